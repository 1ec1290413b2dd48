import torch
from numgrad import numgrad
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.head = nn.Linear(2, 1)
    def forward(self, x):
        for c in self.cells: x = torch.tanh(c(x))
        return self.head(x)
torch.manual_seed(0)
net = Net().double(); opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.ones(1, 2).double()
assert len(list(net.parameters())) == 6
for _ in range(2):
    opt.zero_grad(); net(x).pow(2).sum().backward()
    W = net.cells[0].weight; w0 = W.detach().clone()
    def f(w):
        with torch.no_grad():
            W.copy_(w); v = net(x).pow(2).sum(); W.copy_(w0)
        return v
    assert torch.allclose(W.grad, numgrad(f, w0), atol=1e-6)
    opt.step(); assert not torch.equal(W, w0)
print("ok")
