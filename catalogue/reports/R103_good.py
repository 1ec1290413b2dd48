import torch
from numgrad import numgrad
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3); self.head = nn.Linear(3, 1); self.pooler = nn.Linear(3, 3)
    def forward(self, x): return self.head(self.body(x))
torch.manual_seed(0)
net = Net().double(); x = torch.randn(2, 3).double()
params = {n: p for n, p in net.named_parameters() if not n.startswith("pooler.")}   # those that take part
grads = torch.autograd.grad(net(x).pow(2).sum(), list(params.values()))
g = dict(zip(params, grads))["body.weight"]
f = lambda w: net.head(x @ w.t() + net.body.bias).detach().pow(2).sum()
assert torch.allclose(g, numgrad(f, net.body.weight.detach()), atol=1e-5)
print("ok")
