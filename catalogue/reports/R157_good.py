import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
G, D = nn.Linear(2, 2).double(), nn.Sequential(nn.Linear(2, 1), nn.Tanh()).double()
oG, oD = torch.optim.SGD(G.parameters(), .0), torch.optim.SGD(D.parameters(), .0)
z, real = torch.randn(4, 2).double(), torch.randn(4, 2).double()
oG.zero_grad(); (-D(G(z)).mean()).backward(); oG.step()
oD.zero_grad()                            # immediately before the backward that should count
fake = G(z).detach()
(D(fake).mean() - D(real).mean()).backward()
b = D[0].bias.detach()
f = lambda w: torch.tanh(fake @ w.t() + b).mean() - torch.tanh(real @ w.t() + b).mean()
assert torch.allclose(D[0].weight.grad, numgrad(f, D[0].weight.detach()), atol=1e-7)
oD.step(); print("ok")
