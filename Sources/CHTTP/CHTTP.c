#include "CHTTP.h"
