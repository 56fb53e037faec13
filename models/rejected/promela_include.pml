#include "other.h"
active proctype P() { skip }
