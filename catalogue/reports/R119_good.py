import torch
from numgrad import numgrad

class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, x):
        ctx.save_for_backward(w, x)
        return -(w - x).abs().sum()
    @staticmethod
    def backward(ctx, g):
        w, x = ctx.saved_tensors
        s = torch.sign(w - x) * g
        return -s, s                      # one entry per forward argument, same order
torch.manual_seed(0)
w = torch.randn(3, dtype=torch.double, requires_grad=True); x = torch.randn(3, dtype=torch.double, requires_grad=True)
Add.apply(w, x).backward()
assert torch.allclose(w.grad, numgrad(lambda v: -(v - x.detach()).abs().sum(), w.detach()), atol=1e-6)
assert torch.autograd.gradcheck(Add.apply, (w, x))
print("ok")
