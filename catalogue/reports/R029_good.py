import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 3); self.lin = nn.Linear(3, 1)
    def forward(self, i):
        mask_vec = self.emb(torch.tensor(4))        # recomputed from the current weight every time
        return self.lin(self.emb(i) * mask_vec)
net = Net().double(); opt = torch.optim.SGD(net.parameters(), 0.1)
W = net.emb.weight
for _ in range(3):
    opt.zero_grad(); net(torch.tensor([0, 1])).pow(2).sum().backward()
    w0 = W.detach().clone()
    def f(w):
        with torch.no_grad():
            W.copy_(w); v = net(torch.tensor([0, 1])).pow(2).sum(); W.copy_(w0)
        return v
    assert torch.allclose(W.grad, numgrad(f, w0), atol=1e-6)
    opt.step()
print("ok")
