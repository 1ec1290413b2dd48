import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
G = nn.Linear(3, 4).double(); D = nn.Sequential(nn.Linear(4, 1), nn.Tanh()).double()
oG = torch.optim.SGD(G.parameters(), 0.5)
z = torch.randn(5, 3).double()
for _ in range(3):
    fake = G(z)                           # a new graph for every step
    oG.zero_grad()
    (-D(fake).mean()).backward()
    b = G.bias.detach()
    f = lambda w: -D(z @ w.t() + b).mean()
    assert torch.allclose(G.weight.grad, numgrad(f, G.weight.detach()), atol=1e-7)
    oG.step()
print("ok")
