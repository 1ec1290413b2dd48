import torch
from numgrad import numgrad

class Opt(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():     # contract of every torch.optim optimizer
                loss = closure()
        super().step()
        return loss
p = torch.nn.Parameter(torch.ones(2, dtype=torch.double))
opt = Opt([p], lr=0.1)
def closure():
    opt.zero_grad(); loss = (p ** 2).sum(); loss.backward(); return loss
before = p.detach().clone()
opt.step(closure)
assert torch.allclose(p.grad, numgrad(lambda v: (v ** 2).sum(), before), atol=1e-6)
print("ok", p.detach())
