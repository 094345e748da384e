"""PPO with a Gaussian policy: clipped ratios, generalised advantages (Schulman et al., 2017)."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions.normal import Normal


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim=5, act_dim=2):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(obs_dim, 16)), nn.Tanh(), layer_init(nn.Linear(16, 1), std=1.0))
        self.actor_mean = nn.Sequential(layer_init(nn.Linear(obs_dim, 16)), nn.Tanh(), layer_init(nn.Linear(16, act_dim), std=0.01))
        self.actor_logstd = nn.Parameter(torch.zeros(1, act_dim))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        action_mean = self.actor_mean(x)
        action_logstd = self.actor_logstd.expand_as(action_mean)
        action_std = torch.exp(action_logstd)
        probs = Normal(action_mean, action_std)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


def build():
    return Agent()


def train_step(agent, rng):
    steps, envs = 6, 2
    make = lambda *shape: torch.tensor(rng.standard_normal(shape), dtype=torch.float32)
    obs, actions, rewards = make(steps, envs, 5), make(steps, envs, 2), make(steps, envs)
    dones = torch.zeros((steps, envs))
    dones[3, 0] = 1.0
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-3)
    with torch.no_grad():
        assert agent.get_action_and_value(obs[0])[0].shape == (envs, 2)
        values = agent.get_value(obs.reshape(-1, 5)).view(steps, envs)
        _, logprobs, _, _ = agent.get_action_and_value(obs.reshape(-1, 5), actions.reshape(-1, 2))
        logprobs = logprobs - 0.1
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        for t in reversed(range(steps - 1)):
            nextnonterminal = 1.0 - dones[t + 1]
            delta = rewards[t] + 0.99 * values[t + 1] * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + 0.99 * 0.95 * nextnonterminal * lastgaelam
        returns = advantages + values
    b_inds = np.arange(steps * envs)
    rng.shuffle(b_inds)
    mb_inds = b_inds[:8]
    _, newlogprob, entropy, newvalue = agent.get_action_and_value(obs.reshape((-1, 5))[mb_inds], actions.reshape((-1, 2))[mb_inds])
    logratio = newlogprob - logprobs.reshape(-1)[mb_inds]
    ratio = logratio.exp()
    mb_advantages = advantages.reshape(-1)[mb_inds]
    mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
    pg_loss1 = -mb_advantages * ratio
    pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)
    pg_loss = torch.max(pg_loss1, pg_loss2).mean()
    newvalue = newvalue.view(-1)
    v_loss_unclipped = (newvalue - returns.flatten()[mb_inds]) ** 2
    v_clipped = values.flatten()[mb_inds] + torch.clamp(newvalue - values.flatten()[mb_inds], -0.2, 0.2)
    v_loss = 0.5 * torch.max(v_loss_unclipped, (v_clipped - returns.flatten()[mb_inds]) ** 2).mean()
    loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
    clipfrac = ((ratio - 1.0).abs() > 0.2).float().mean()
    return loss, [ratio, clipfrac, advantages]
