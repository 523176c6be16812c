//! Ground truths and metrics.
