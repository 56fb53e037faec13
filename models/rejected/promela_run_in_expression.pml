proctype Q() { skip } init { (run Q()) + 1 > 0 }
