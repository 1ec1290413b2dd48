import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
G = nn.Linear(2, 3).double(); D = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()
oG, oD = torch.optim.SGD(G.parameters(), .1), torch.optim.SGD(D.parameters(), .1)
z = torch.randn(4, 2).double(); fake = G(z); real = torch.randn(4, 3).double()
loss_D = D(fake.detach()).mean() - D(real).mean()
loss_G = -D(fake).mean()
oG.zero_grad(); loss_G.backward(inputs=list(G.parameters()))
b = G.bias.detach()
assert torch.allclose(G.weight.grad, numgrad(lambda w: -D(z @ w.t() + b).mean(), G.weight.detach()), atol=1e-7)
oG.step()
oD.zero_grad(); loss_D.backward(inputs=list(D.parameters()))
want = torch.autograd.grad(D(fake.detach()).mean() - D(real).mean(), D[0].weight)[0]
assert torch.allclose(D[0].weight.grad, want)
oD.step()
print("ok")
