#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "program.hpp"

namespace tailrace::test {
namespace {

// A dataset in the file, some of it written; it is closed.
Model add_data(hid_t file, const std::string& path, const std::string& name, Dice& dice) {
  Model model;
  model.file = path;
  model.name = name;
  const Id data = create_dataset(file, model, dice);
  for (uint64_t writes = dice.between(1, 3); writes > 0; --writes) {
    Transfer transfer(model, dice);
    CHECK(H5Dwrite(data.get(), transfer.type(), transfer.memory_space(), transfer.file_space(), transfer.properties(),
                   transfer.data()) >= 0);
    transfer.write_to(model);
  }
  return model;
}

Model make_file(const std::string& path, Dice& dice) {
  const Id file{create_file(path), H5Fclose};
  return add_data(file.get(), path, "data", dice);
}

// Appends as libraries do: they first check whether the dataset exists.
Model append(const std::string& path, Dice& dice) {
  const bool is_there = access(path.c_str(), F_OK) == 0;
  const Id file{is_there ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT) : create_file(path), H5Fclose};
  return add_data(file.get(), path, "more", dice);
}

void compare_in(hid_t file, const Model& model) {
  const Id data{H5Dopen2(file, model.name.c_str(), H5P_DEFAULT), H5Dclose};
  compare_whole(data.get(), model);
}

void look_into(const std::string& path, const std::vector<Model>& models) {
  const Id file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  for (const Model& model : models) compare_in(file.get(), model);
}

// Reads it through a link in another file, whose name is free again afterwards.
void look_through_link(hid_t other, const std::string& path, const Model& model) {
  CHECK(H5Lcreate_external(path.c_str(), "/", other, "link", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  Model there = model;
  there.name = "link/" + model.name;
  compare_in(other, there);
  CHECK(H5Ldelete(other, "link", H5P_DEFAULT) >= 0);
}

// Such a call may fail once, because of what happened to other files.
template <typename Call>
void change_name(const Call& call) {
  CHECK(call() == 0 || (errno == EIO && call() == 0));
}

}  // namespace

hid_t create_file(const std::string& path, hid_t access) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  return file >= 0 ? file : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
}

void use_what_was_just_closed(const std::string& path, hid_t other, Dice& dice) {
  std::vector<Model> models{make_file(path, dice)};
  std::string name = path;
  if (dice.chance(30)) {
    name += ".renamed";
    change_name([&] { return std::rename(path.c_str(), name.c_str()); });
    if (dice.chance(50)) make_file(path, dice);
  }
  if (dice.chance(20)) look_through_view(other, models[0], name);
  if (dice.chance(20)) look_through_link(other, name, models[0]);
  if (dice.chance(50)) models.push_back(append(name, dice));
  if (dice.chance(50)) look_into(name, models);
  change_name([&] { return std::remove(name.c_str()); });
  if (dice.chance(50)) look_into(name, {make_file(name, dice)});
}

}  // namespace tailrace::test
