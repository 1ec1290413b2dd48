# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-checkpoint-rng-dropout-mismatch",
# ]
# symptom = "With gradient checkpointing and dropout the model trains worse than without."
# symptom-zh = "梯度检查点与 dropout 同时使用时训练变差"
# ///
"""
Dropout under checkpointing with other random numbers
=====================================================

With `checkpointing` your block runs twice, and you switched off the restoring of the
random state. Dropout then drops other units in the second run than in the first.
"""

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)

# %%
# The mistake
# -----------
#
# ``preserve_rng_state=False`` saves a little time. The units that were dropped in forward
# are not the ones whose gradient is zero.


def drop(x):
    return torch.nn.functional.dropout(x, 0.5)


def masks_agree(**options):
    x = torch.ones(1000, requires_grad=True)
    y = checkpoint(drop, x, **options)
    y.sum().backward()
    return torch.equal(y.detach(), x.grad)


print(masks_agree(use_reentrant=False, preserve_rng_state=False))
assert not masks_agree(use_reentrant=False, preserve_rng_state=False)

# %%
# Leave the state preserved
# -------------------------
#
# It is the default. For inputs of one, value and gradient of dropout are the same numbers.

print(masks_agree(use_reentrant=False))
assert masks_agree(use_reentrant=False)

# %%
# Or draw the mask outside
# ------------------------

x = torch.ones(1000, requires_grad=True)
mask = (torch.rand(1000) > 0.5).float() * 2.0
y = checkpoint(lambda x, mask: x * mask, x, mask, use_reentrant=False, preserve_rng_state=False)
y.sum().backward()
torch.testing.assert_close(x.grad, mask)

# %%
# What does not help
# ------------------
#
# The reentrant variant has the same switch and the same result.

print(masks_agree(use_reentrant=True, preserve_rng_state=False))
assert not masks_agree(use_reentrant=True, preserve_rng_state=False)

# %%
# See also
# --------
#
# * `checkpoint-recompute-mismatch`
