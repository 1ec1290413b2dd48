import torch
from numgrad import numgrad

class Quad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rot):
        ctx.save_for_backward(rot)
        return rot[:, :3].pow(2).sum()
    @staticmethod
    def backward(ctx, g):
        rot, = ctx.saved_tensors
        out = torch.zeros_like(rot)
        out[:, :3] = 2 * rot[:, :3] * g
        return out
torch.manual_seed(0)
r = torch.randn(5, 4, dtype=torch.double, requires_grad=True)
Quad.apply(r).backward()
assert torch.allclose(r.grad, numgrad(lambda v: v[:, :3].pow(2).sum(), r.detach()), atol=1e-5)
print("ok")
