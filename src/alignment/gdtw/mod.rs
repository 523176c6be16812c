//! GDTW: continuous-time, regularised, constrained time warping.
