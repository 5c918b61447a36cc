"""One step of learning, and what must be kept to go on later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from train_adapter.encoding import Encoded


@dataclass(frozen=True, slots=True)
class Settings:
    """How to learn.

    Attributes:
        rank: LoRA rank; vLLM loads up to 16 without being told.
        learning_rate: Highest learning rate; it rises over ``warmup`` steps and falls over the last ones.
        batch_tokens: Most tokens of one forward pass.
        accumulate: Forward passes of one step.
        warmup: Steps.
        decay: Part of the run at its end over which the learning rate falls to zero. Until then a run can
            be made longer or shorter.
        clip: Largest norm of the gradient.
        seed: Seed of the order of the data and of LoRA's first weights.
    """

    rank: int = 16
    learning_rate: float = 1e-3
    batch_tokens: int = 1024
    accumulate: int = 3
    warmup: int = 40
    decay: float = 0.3
    clip: float = 1.0
    seed: int = 0


class Learner:
    """A base model with a LoRA adapter that learns.

    The adapter computes in the model's type; the weights that are learnt are kept in float32 beside it.

    Args:
        model: The base model; its own weights stay as they are.
        settings: How to learn.
        steps: Length of the whole run, for the learning rate.

    Attributes:
        step: Steps taken.
    """

    def __init__(self, model: Any, settings: Settings, *, steps: int) -> None:
        import torch
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(settings.seed)
        config = LoraConfig(
            r=settings.rank,
            lora_alpha=2 * settings.rank,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        self._model = get_peft_model(model, config, autocast_adapter_dtype=False)
        self._weights = [weight for weight in self._model.parameters() if weight.requires_grad]
        self._masters = [weight.detach().float().clone() for weight in self._weights]
        self._optimizer = torch.optim.AdamW(self._masters, lr=0.0, betas=(0.9, 0.99), weight_decay=0.0)
        self._settings = settings
        self._steps = steps
        self.step = 0

    def compile(self) -> None:
        """Compiles each layer for any batch and length."""
        for layer in self._model.base_model.model.model.layers:
            layer.compile(dynamic=True)

    def learn(self, groups: Sequence[Sequence[Encoded]]) -> float:
        """Takes one step.

        Args:
            groups: The examples of each forward pass.

        Returns:
            The mean loss of a learnt token.
        """
        import torch

        learnt = sum(one.learnt for group in groups for one in group)
        total = 0.0
        for group in groups:
            loss = self._loss(group) / learnt
            loss.backward()
            total += float(loss.detach())
        for master, weight in zip(self._masters, self._weights, strict=True):
            master.grad = weight.grad.float() if weight.grad is not None else None
            weight.grad = None
        torch.nn.utils.clip_grad_norm_(self._masters, self._settings.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate()
        self._optimizer.step()
        self._hand_over()
        self.step += 1
        return total

    def _loss(self, group: Sequence[Encoded]) -> Any:
        """Sum of the losses of the learnt tokens; only where one follows are logits computed at all."""
        import torch

        width = -(-max(len(one.ids) for one in group) // 8) * 8
        ids = torch.zeros((len(group), width), dtype=torch.long)
        places: list[int] = []
        wanted: list[int] = []
        for row, one in enumerate(group):
            ids[row, : len(one.ids)] = torch.tensor(one.ids)
            places += [row * width + at - 1 for at in range(one.start, len(one.ids))]
            wanted += one.ids[one.start :]
        causal = self._model.base_model.model
        device = causal.device
        states = causal.model(input_ids=ids.to(device), use_cache=False).last_hidden_state
        chosen = states.reshape(-1, states.shape[-1])[torch.tensor(places, device=device)]
        logits = causal.lm_head(chosen).float()
        return torch.nn.functional.cross_entropy(logits, torch.tensor(wanted, device=device), reduction="sum")

    def _rate(self) -> float:
        """The learning rate of this step: it rises, stays, and falls over the last part of the run."""
        settings = self._settings
        rise = min(1.0, (self.step + 1) / settings.warmup)
        falling = max(1, round(self._steps * settings.decay))
        fall = min(1.0, (self._steps - self.step) / falling)
        return settings.learning_rate * rise * fall

    def _hand_over(self) -> None:
        """Copies the learnt weights into the model."""
        import torch

        with torch.no_grad():
            for master, weight in zip(self._masters, self._weights, strict=True):
                weight.copy_(master)

    def save(self, path: Path) -> None:
        """Writes what :meth:`load` needs; a run that dies meanwhile leaves the older file whole."""
        import torch

        path.parent.mkdir(parents=True, exist_ok=True)
        state = {
            "step": self.step,
            "settings": asdict(self._settings),
            "masters": self._masters,
            "optimizer": self._optimizer.state_dict(),
        }
        written = path.with_suffix(".new")
        torch.save(state, written)
        written.replace(path)

    def load(self, path: Path) -> None:
        """Goes back to a checkpoint.

        Raises:
            ValueError: It was written with other settings.
        """
        import torch

        state = torch.load(path, map_location="cpu", weights_only=True)
        if state["settings"] != asdict(self._settings):
            raise ValueError(f"{path} was written with other settings. Use these, or another output folder.")
        with torch.no_grad():
            for master, kept in zip(self._masters, state["masters"], strict=True):
                master.copy_(kept)
        self._optimizer.load_state_dict(state["optimizer"])
        self.step = int(state["step"])
        self._hand_over()

    def save_adapter(self, folder: Path) -> None:
        """Writes the adapter as PEFT and vLLM load it."""
        self._model.save_pretrained(str(folder))
