"""Double, dueling deep Q-learning with a target network and replay (Mnih et al., 2015)."""

import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple('Transition', ('state', 'action', 'next_state', 'reward'))


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        """Save a transition"""
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.Random(7).sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super(DQN, self).__init__()
        self.layer1 = nn.Linear(n_observations, 16)
        self.advantage = nn.Linear(16, n_actions)
        self.value = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        a = self.advantage(x)
        return self.value(x) + a - a.mean(dim=-1, keepdim=True)


def build():
    return DQN(4, 3)


def train_step(policy_net, rng):
    target_net = DQN(4, 3)
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True, eps=1e-2)
    memory = ReplayMemory(20)
    for i in range(20):
        state = torch.tensor(rng.standard_normal(4), dtype=torch.float32).unsqueeze(0)
        next_state = None if i % 5 == 4 else torch.tensor(rng.standard_normal(4), dtype=torch.float32).unsqueeze(0)
        memory.push(state, torch.tensor([[int(rng.integers(3))]]), next_state, torch.tensor([float(i % 2)]))

    transitions = memory.sample(12)
    batch = Transition(*zip(*transitions))
    non_final_mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)
    state_action_values = policy_net(state_batch).gather(1, action_batch)
    next_state_values = torch.zeros(12)
    with torch.no_grad():
        best = policy_net(non_final_next_states).argmax(1, keepdim=True)
        next_state_values[non_final_mask] = target_net(non_final_next_states).gather(1, best).squeeze(1)
    expected_state_action_values = (next_state_values * 0.99) + reward_batch
    criterion = nn.SmoothL1Loss()
    loss = criterion(state_action_values, expected_state_action_values.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    target_net_state_dict = target_net.state_dict()
    policy_net_state_dict = policy_net.state_dict()
    for key in policy_net_state_dict:
        target_net_state_dict[key] = policy_net_state_dict[key]*0.005 + target_net_state_dict[key]*(1-0.005)
    target_net.load_state_dict(target_net_state_dict)
    return loss, [state_action_values, target_net(state_batch)]
