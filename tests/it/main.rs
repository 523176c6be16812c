//! One integration binary: the program as its users meet it, and the rules the code keeps.

mod tidy;
