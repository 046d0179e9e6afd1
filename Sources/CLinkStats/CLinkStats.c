#include "CLinkStats.h"
