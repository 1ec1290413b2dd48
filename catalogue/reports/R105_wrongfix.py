import torch

lat = torch.randn(2, 3, requires_grad=True)
attn = torch.rand(2, 3, requires_grad=True)          # recorded under no_grad upstream: no link to lat
loss = (1 - attn.max(1).values).sum()
g = torch.autograd.grad(loss, lat, allow_unused=True)[0]
assert g is None                          # no error, and no direction to move the latent in
