"""Background and foreground of a film, by robust principal components.

A scene whose light slowly changes is a matrix of low rank, a row a frame. What moves before it is
sparse. `RobustPCA` tells them apart, and the moving shapes leave no ghosts in the background.
"""

from pathlib import Path

import numpy as np

from pygeco import RobustPCA, plot


def film(frames: int = 60, height: int = 72, width: int = 96) -> np.ndarray:
    """A textured scene under changing light, a disc and a box that cross it, and noise."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width]
    scene = 110 + 40 * np.sin(x / 9) * np.cos(y / 13) + 12 * rng.standard_normal((height, width))
    shade = np.linspace(-30, 30, width)[None, :] + 0 * y
    pictures = []
    for t in range(frames):
        picture = scene + np.sin(2 * np.pi * t / frames) * shade + 2 * rng.standard_normal(x.shape)
        picture[(x - 1.6 * t) ** 2 + (y - 22) ** 2 < 90] = 235
        picture[(abs(x - 96 + 1.8 * t) < 6) & (abs(y - 52) < 6)] = 20
        pictures.append(np.clip(picture, 0, 255).astype(np.uint8))
    return np.stack(pictures)


def main(output: Path) -> None:
    pictures = film()
    X = pictures.reshape(len(pictures), -1)
    model = RobustPCA(1, random_state=0).fit(X)
    axes = plot.frames(model, X, pictures.shape[1:], [12, 30, 48])
    axes[0, 0].figure.savefig(output / "moving_shapes.png", dpi=100)
    share = model.outliers_.nnz / X.size
    print(f"{share:.1%} of the pixels move; noise {model.scale_:.1f} gray levels")


if __name__ == "__main__":
    main(Path())
