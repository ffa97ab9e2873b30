// Instantiates v_cmp and v_cmpx for every relation and type. Compiled once per host level.
#include <utility>

#include "exec/instructions/all_rows.h"
#include "exec/instructions/valu.h"
#include "isa/gfx942/compare.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

template <typename T, bool writes_exec, const auto& relations, std::size_t... n>
void add_relations(RowTable& table, std::index_sequence<n...>) {
  add_vector_rows(table, Rows<v_cmp<T, relations[n], writes_exec>...>{});
}
template <typename T>
void add_float(RowTable& table) {
  add_relations<T, false, kFloatRelations>(table, std::make_index_sequence<16>{});
  add_relations<T, true, kFloatRelations>(table, std::make_index_sequence<16>{});
  add_vector_rows(table, Rows<v_cmp_class<T, false>, v_cmp_class<T, true>>{});
}
template <typename T>
void add_integer(RowTable& table) {
  add_relations<T, false, kIntegerRelations>(table, std::make_index_sequence<8>{});
  add_relations<T, true, kIntegerRelations>(table, std::make_index_sequence<8>{});
}

}  // namespace

void add_compare_rows(RowTable& table) {
  add_float<f16>(table);
  add_float<f32>(table);
  add_float<f64>(table);
  add_integer<i16>(table);
  add_integer<u16>(table);
  add_integer<i32>(table);
  add_integer<u32>(table);
  add_integer<i64>(table);
  add_integer<u64>(table);
}

}  // namespace margay::MARGAY_HOST_LEVEL
