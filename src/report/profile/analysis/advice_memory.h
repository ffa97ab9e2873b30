// Advice on vector memory: what is fetched or looked up and not used, and what is fetched again.
#pragma once

#include "report/profile/analysis/advice_list.h"

namespace margay::profile {

void advise_on_memory(AdviceList& list);
void advise_on_reuse(AdviceList& list);

}  // namespace margay::profile
