"""Actor-critic with sampled actions and returns (Konda and Tsitsiklis, 1999)."""

import argparse
from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

parser = argparse.ArgumentParser(description='PyTorch actor-critic example')
parser.add_argument('--gamma', type=float, default=0.99)
parser.add_argument('--seed', type=int, default=543)
args = parser.parse_args([])

torch.manual_seed(args.seed)
SavedAction = namedtuple('SavedAction', ['log_prob', 'value', 'entropy'])


class Policy(nn.Module):
    """implements both actor and critic in one model"""

    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 16)
        self.action_head = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_prob = F.softmax(self.action_head(x), dim=-1)
        state_values = self.value_head(x)
        return action_prob, state_values


def select_action(model, state, action):
    state = torch.from_numpy(state).float()
    probs, state_value = model(state)
    m = Categorical(probs)
    assert m.sample().item() in (0, 1)  # the action taken comes from the caller: sampling differs between libraries
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value, m.entropy()))
    return action.item()


def finish_episode(model, optimizer):
    R = 0
    saved_actions = model.saved_actions
    policy_losses = []
    value_losses = []
    returns = []
    eps = np.finfo(np.float32).eps.item()
    for r in model.rewards[::-1]:
        R = r + args.gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for (log_prob, value, entropy), R in zip(saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage - 0.01 * entropy)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss


def build():
    return Policy()


def train_step(model, rng):
    optimizer = optim.Adam(model.parameters(), lr=3e-2, eps=1e-2)
    for t in range(8):
        action = select_action(model, rng.standard_normal(4), torch.tensor(int(rng.integers(0, 2))))
        model.rewards.append(1.0 if action else 0.5)
    loss = finish_episode(model, optimizer)
    with torch.no_grad():
        values = model(torch.ones(1, 4))[1]
    return loss, values
