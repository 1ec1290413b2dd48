import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
rnn = nn.GRU(2, 2, batch_first=True).double()
opt = torch.optim.SGD(rnn.parameters(), 1e-2)
h = torch.zeros(1, 1, 2).double()
for t in range(3):
    x = torch.randn(1, 4, 2).double()
    h = h.detach()                        # truncated BPTT: value kept, history cut
    h_in = h
    out, h = rnn(x, h)
    opt.zero_grad()
    out.pow(2).sum().backward()
    W = rnn.weight_ih_l0
    w0 = W.detach().clone()
    def f(w):
        with torch.no_grad():
            W.copy_(w); v = rnn(x, h_in)[0].pow(2).sum(); W.copy_(w0)
        return v
    assert torch.allclose(W.grad, numgrad(f, w0), atol=1e-6)
    opt.step()
print("ok")
