// Lists and their surroundings through the handler's stream, compared with what OpenFOAM's own stream makes of them.
#include "openfoam/handler/object_stream.hpp"

#include <Field.H>
#include <IndirectList.H>
#include <OStringStream.H>
#include <gtest/gtest.h>
#include <sphericalTensor.H>
#include <symmTensor.H>
#include <tensor.H>
#include <vector.H>

#include <cmath>
#include <limits>
#include <string>

#include "openfoam/output/direct_store.hpp"
#include "testing/dice.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::openfoam {
namespace {

using impl::Dice;

double some_number(Dice& dice) {
  if (dice.chance(5)) return dice.chance(50) ? std::nan("") : -0.0;
  if (dice.chance(30)) return static_cast<double>(dice.below(3));
  return (static_cast<double>(dice.below(2'000'000)) - 1e6) *
         std::pow(10.0, static_cast<double>(dice.below(20)) - 10);
}

template <typename T>
T some_element(Dice& dice) {
  T element;
  for (Foam::direction at = 0; at < T::nComponents; ++at) element[at] = some_number(dice);
  return element;
}

template <>
Foam::scalar some_element<Foam::scalar>(Dice& dice) {
  return some_number(dice);
}

// Has a stream write a random list, in one of the ways of OpenFOAM's objects.
template <typename T>
void write_list(Dice& dice, Foam::Ostream& stream) {
  const bool equal = dice.chance(20);
  Foam::Field<T> list(static_cast<Foam::label>(dice.below(dice.chance(10) ? 3000 : 14)));
  const Foam::word tag("List<" + Foam::word(Foam::pTraits<T>::typeName) + ">");
  const T first = some_element<T>(dice);
  for (Foam::label at = 0; at < list.size(); ++at) list[at] = equal ? first : some_element<T>(dice);
  switch (dice.below(5)) {
    case 0: list.writeEntry("value", stream); break;
    case 1: static_cast<const Foam::UList<T>&>(list).writeEntry("list", stream); break;
    case 2: stream << list; break;
    case 3: {
      Foam::labelList addresses(list.size() / 2);
      for (Foam::label at = 0; at < addresses.size(); ++at) addresses[at] = list.size() - 1 - at;
      stream << tag << Foam::token::SPACE << Foam::UIndirectList<T>(list, addresses);
      break;
    }
    default: {  // the type's name, with something else behind it
      stream << tag;
      if (dice.chance(70)) stream << ' ';
      if (dice.chance(50)) stream << Foam::nl;
      if (dice.chance(50)) stream << Foam::label(dice.between(1, 100));
      if (dice.chance(50)) stream << Foam::nl;
      switch (dice.below(5)) {
        case 0: stream << some_number(dice); break;
        case 1: stream << "text"; break;
        case 2: stream << Foam::string("a \"text\""); break;
        case 3: stream << Foam::word("List<scalar>"); break;
        default: stream << Foam::token::END_STATEMENT;
      }
      stream << Foam::endl;
    }
  }
}

void write_something(Dice& dice, Foam::Ostream& stream) {
  if (dice.chance(10)) stream.precision(static_cast<int>(dice.between(1, 17)));
  switch (dice.below(7)) {
    case 0: return write_list<Foam::scalar>(dice, stream);
    case 1: return write_list<Foam::vector>(dice, stream);
    case 2: return write_list<Foam::symmTensor>(dice, stream);
    case 3: return write_list<Foam::tensor>(dice, stream);
    case 4: return write_list<Foam::sphericalTensor>(dice, stream);
    case 5: stream << Foam::labelList(static_cast<Foam::label>(dice.below(20)), 7) << Foam::nl; return;
    default: stream.writeKeyword("key") << some_element<Foam::vector>(dice) << Foam::token::END_STATEMENT << Foam::nl;
  }
}

void write_object(uint64_t seed, Foam::Ostream& stream) {
  Dice dice(seed);
  for (uint64_t left = dice.between(1, 30); left > 0; --left) write_something(dice, stream);
}

TEST(ObjectStream, WritesAsOpenFoamsOwnStream) {
  const impl::ScratchDirectory scratch;
  impl::for_seeds(300, [&](uint64_t seed) {
    const auto format = seed % 4 == 0 ? Foam::IOstream::BINARY : Foam::IOstream::ASCII;
    Foam::OStringStream expected(format);
    write_object(seed, expected);
    Writer writer(std::make_unique<DirectStore>(), 1 << 20);
    const std::string path = scratch / "object";
    {
      ObjectStream stream(writer, {path, "object"}, format, Foam::IOstream::currentVersion,
                          Foam::IOstream::UNCOMPRESSED);
      write_object(seed, stream);
      EXPECT_EQ(stream.format(), format);
    }
    writer.finish(true);
    const auto bytes = impl::bytes_of_file(path);
    ASSERT_TRUE(bytes);
    const std::string found(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    ASSERT_EQ(found, std::string(expected.str()));
  });
}

}  // namespace
}  // namespace tailrace::openfoam
