import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
G = nn.Linear(3, 4).double()
D = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid()).double()
oG, oD = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
real, z = torch.randn(5, 4).double(), torch.randn(5, 3).double()
fake = G(z)
loss_D = -(D(real).log() + (1 - D(fake.detach())).log()).mean()
oD.zero_grad(); loss_D.backward(); oD.step()
loss_G = (1 - D(fake)).log().mean()       # second pass through the UPDATED discriminator
oG.zero_grad(); loss_G.backward()
b = G.bias.detach()
f = lambda w: (1 - D(z @ w.t() + b)).log().mean()
assert torch.allclose(G.weight.grad, numgrad(f, G.weight.detach()), atol=1e-7)
oG.step()
print("ok")
