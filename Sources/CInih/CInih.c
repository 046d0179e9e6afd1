#include "CInih.h"
