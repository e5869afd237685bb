"""Files of ratings, users and items whose tastes follow from their attributes."""

import numpy as np
import pandas as pd

GENRES = np.array(["Comedy", "Drama", "Horror"])
TASTE = np.array([[1.2, 0.0, -1.2], [-1.2, 0.5, 1.2]])  # of women and men, by genre
FITTED_USERS, FITTED_ITEMS = 100, 40


def draw_world(seed=0):
    """Ratings of the first users and items, all users, all items, and what everyone thinks."""
    rng = np.random.default_rng(seed)
    users = pd.DataFrame(
        {
            "user_id": np.arange(1, 121),
            "gender": rng.choice(["F", "M"], 120),
            "age": rng.integers(18, 80, 120),
            "job": rng.choice(["nurse", "cook, or chef", "clerk"], 120),
        }
    )
    items = pd.DataFrame({"movie_id": 10 * np.arange(1, 49), "genres": rng.choice(GENRES, 48)})
    items["title"] = [f"Film {k} ({1950 + k})" for k in range(48)]
    kind = (users["gender"] == "M").to_numpy().astype(int)
    opinion = 3 + TASTE[kind][:, np.searchsorted(GENRES, items["genres"])]
    rows, cols = np.nonzero(rng.random((FITTED_USERS, FITTED_ITEMS)) < 0.35)
    values = opinion[rows, cols] + 0.4 * rng.standard_normal(len(rows))
    ratings = pd.DataFrame(
        {"user": users["user_id"].to_numpy()[rows], "item": items["movie_id"].to_numpy()[cols]}
    )
    return ratings.assign(rating=values.round(3)), users, items, opinion


def write_world(folder):
    """The same as ratings.csv, users.csv, and MovieLens' users.dat and movies.dat."""
    ratings, users, items, opinion = draw_world()
    ratings.to_csv(folder / "ratings.csv", index=False)
    users.to_csv(folder / "users.csv", index=False)
    codes = users["job"].map({"nurse": 3, "cook, or chef": 7, "clerk": 20})
    lines = zip(users["user_id"], users["gender"], users["age"], codes, strict=True)
    text = "".join(f"{a}::{b}::{c}::{d}::{10000 + a:05d}\n" for a, b, c, d in lines)
    (folder / "users.dat").write_text(text)
    lines = zip(items["movie_id"], items["title"], items["genres"], strict=True)
    text = "".join(f"{a}::{b}::{c}|Short\n" for a, b, c in lines)
    (folder / "movies.dat").write_text(text)
    return opinion
