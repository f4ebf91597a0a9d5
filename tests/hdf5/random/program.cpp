#include "program.hpp"

#include <csignal>
#include <cstring>

namespace tailrace::test {
namespace {

constexpr size_t kFiles = 3;
constexpr size_t kMostData = 12;

}  // namespace

Program::Program(uint64_t seed, std::string directory) : dice_(seed), directory_(std::move(directory)) {
  std::signal(SIGXFSZ, SIG_IGN);
  CHECK(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0);
  files_.resize(kFiles);
  for (File& file : files_) {
    file.path = directory_ + "/file" + std::to_string(&file - files_.data()) + ".h5";
    make(file);
  }
}

// Half of the programs leave their files open; HDF5 closes them when it is closed, or when the process ends.
Program::~Program() {
  wait();
  const bool close = dice_.chance(50);
  for (const auto& data : data_) {
    if (close) data->id.reset();
    data->id.release();
  }
  for (const File& file : files_) {
    if (close) CHECK(H5Fclose(file.id) >= 0);
  }
  if (dice_.chance(30)) CHECK(H5close() >= 0);
}

void Program::run(int steps) {
  for (int i = 0; i < steps; ++i) step();
}

std::vector<Model> Program::models() const {
  std::vector<Model> models;
  for (const auto& data : data_) models.push_back(data->model);
  return models;
}

void Program::step() {
  static constexpr struct {
    const char* name;
    void (Program::*what)();
    uint64_t weight;
  } kSteps[] = {{"create", &Program::create, 10},
                {"create alike", &Program::create_alike, 4},
                {"write", &Program::write, 30},
                {"write multi", &Program::write_multi, 4},
                {"write asynchronously", &Program::write_asynchronously, 8},
                {"wait", &Program::wait, 4},
                {"read", &Program::read, 20},
                {"read as second", &Program::read_as_second, 3},
                {"read rows", &Program::read_rows, 4},
                {"read through view", &Program::read_through_view, 2},
                {"extend", &Program::extend, 5},
                {"flush", &Program::flush, 3},
                {"close dataset", &Program::close_dataset, 5},
                {"reopen", &Program::reopen, 4},
                {"remove", &Program::remove, 4},
                {"remove group", &Program::remove_group, 4},
                {"move", &Program::move, 2},
                {"copy", &Program::copy, 4},
                {"ask", &Program::ask, 4},
                {"mistake", &Program::mistake, 3},
                {"use closed", &Program::use_closed, 4},
                {"use SWMR", &Program::use_swmr, 2},
                {"fork child", &Program::fork_child, 1},
                {"fill disk", &Program::fill_disk, 1}};
  uint64_t sum = 0;
  for (const auto& step : kSteps) sum += step.weight;
  uint64_t chosen = data_.empty() ? 0 : dice_.below(sum);
  for (const auto& step : kSteps) {
    if (chosen < step.weight) {
      if (traces_) std::fprintf(stderr, "\n%s", step.name);
      return (this->*step.what)();
    }
    chosen -= step.weight;
  }
}

// ---- files ------------------------------------------------------------------------------------------------------

void Program::make(File& file) {
  const Id creation{H5Pcreate(H5P_FILE_CREATE), H5Pclose};
  const Id access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  const bool begins_later = dice_.chance(20);
  if (begins_later) CHECK(H5Pset_userblock(creation.get(), 512) >= 0);
  if (!begins_later && dice_.chance(30)) {
    const H5F_fspace_strategy_t strategy = dice_.chance(50) ? H5F_FSPACE_STRATEGY_PAGE : H5F_FSPACE_STRATEGY_NONE;
    // With persistent free space, HDF5 1.14.5 sometimes never finishes the close of a file.
    CHECK(H5Pset_file_space_strategy(creation.get(), strategy, /*persist=*/false, 1) >= 0);
  }
  if (dice_.chance(40)) CHECK(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  if (!begins_later && dice_.chance(20)) CHECK(H5Pset_alignment(access.get(), 1000, 4096) >= 0);
  file.id = H5Fcreate(file.path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get());
  CHECK(file.id >= 0);
  // HDF5 silently ignores a plugin that cannot be loaded.
  const char* const wanted = std::getenv("HDF5_VOL_CONNECTOR");
  char name[16] = "";
  CHECK(H5VLget_connector_name(file.id, name, sizeof name) >= 0);
  CHECK(std::strcmp(name, wanted != nullptr ? "tailrace" : "native") == 0);
}

void Program::open(File& file) {
  file.id = H5Fopen(file.path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file.id >= 0);
}

// With datasets closed or open; in the latter case HDF5 keeps the file open.
void Program::reopen() {
  File& file = files_[dice_.below(files_.size())];
  const bool closes = dice_.chance(70);
  for (const auto& data : data_) {
    if (closes && &files_[data->file] == &file) data->id.reset();
  }
  if (dice_.chance(20)) {
    const hid_t again = H5Freopen(file.id);
    CHECK(again >= 0 && H5Fclose(file.id) >= 0);
    file.id = again;
    return;
  }
  CHECK(H5Fclose(file.id) >= 0);
  const bool by_link = closes && dice_.chance(50);
  if (by_link) open_by_links(file);
  open(file);
}

// Opens some of its datasets through links in another file, which HDF5 follows by itself.
void Program::open_by_links(const File& file) {
  const File& other = files_[dice_.below(files_.size())];
  if (&other == &file) return;
  for (const auto& data : data_) {
    if (&files_[data->file] != &file || dice_.chance(50)) continue;
    CHECK(H5Lcreate_external(file.path.c_str(), data->model.name.c_str(), other.id, "away", H5P_DEFAULT,
                             H5P_DEFAULT) >= 0);
    data->id = {H5Dopen2(other.id, "away", H5P_DEFAULT), H5Dclose};
    CHECK(H5Ldelete(other.id, "away", H5P_DEFAULT) >= 0);
    if (dice_.chance(30)) write_one(*data);
    if (dice_.chance(30)) read_by(data->id.get(), data->model);
  }
}

void Program::flush() {
  Data& data = some();
  const uint64_t how = dice_.below(4);
  if (how == 0) CHECK(H5Dflush(id(data)) >= 0);
  if (how == 1) CHECK(H5Fflush(files_[data.file].id, H5F_SCOPE_LOCAL) >= 0);
  if (how == 2) CHECK(H5Fflush(id(data), H5F_SCOPE_GLOBAL) >= 0);
  if (how == 3) CHECK(H5Oflush(id(data)) >= 0);
}

// ---- datasets ---------------------------------------------------------------------------------------------------

Program::Data& Program::some() {
  Data& data = *data_[dice_.below(data_.size())];
  if (traces_) std::fprintf(stderr, " %s", describe(data.model).c_str());
  return data;
}

hid_t Program::id(Data& data) {
  if (!data.id) data.id = {H5Dopen2(files_[data.file].id, data.model.name.c_str(), H5P_DEFAULT), H5Dclose};
  return data.id.get();
}

void Program::create() {
  if (data_.size() >= kMostData) return remove();
  auto data = std::make_unique<Data>();
  data->file = dice_.below(files_.size());
  const File& file = files_[data->file];
  data->model.file = file.path;
  const bool later = dice_.chance(10);  // named later
  const std::string name = "data" + std::to_string(count_++);
  if (!later) data->model.name = "group" + std::to_string(dice_.below(3)) + "/" + name;
  data->id = create_dataset(file.id, data->model, dice_);
  if (later) {
    Transfer transfer(data->model, dice_);
    CHECK(H5Dwrite(data->id.get(), transfer.type(), transfer.memory_space(), transfer.file_space(), H5P_DEFAULT,
                   transfer.data()) >= 0);
    transfer.write_to(data->model);
    data->model.name = name;
    CHECK(H5Olink(data->id.get(), file.id, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0);
  }
  data_.push_back(std::move(data));
}

void Program::create_alike() {
  if (data_.size() >= kMostData) return;
  Data& from = some();
  auto to = std::make_unique<Data>();
  to->file = dice_.below(files_.size());
  to->model = from.model;
  to->model.file = files_[to->file].path;
  to->model.name = "alike" + std::to_string(count_++);
  to->id = create_like(files_[to->file].id, id(from), to->model);
  if (dice_.chance(70)) write_one(*to);
  data_.push_back(std::move(to));
}

void Program::close_dataset() { some().id.reset(); }

void Program::extend() {
  Data& data = some();
  if (data.model.chunk.empty()) return;
  const Id properties{H5Dget_create_plist(id(data)), H5Pclose};
  unsigned options = 0;
  CHECK(H5Pget_chunk_opts(properties.get(), &options) >= 0);
  if (options != 0 && !data.model.written) return;  // HDF5 1.14.5 looks for chunks before there is an index
  const Id space{H5Dget_space(id(data)), H5Sclose};
  Shape to(data.model.shape.size());
  Shape most(to.size());
  CHECK(H5Sget_simple_extent_dims(space.get(), to.data(), most.data()) >= 0);
  CHECK(to == data.model.shape);
  for (size_t axis = 0; axis < to.size(); ++axis) {
    const hsize_t largest = std::min<hsize_t>(most[axis], to[axis] < 20000 ? 2 * to[axis] : to[axis]);
    if (dice_.chance(70)) to[axis] = dice_.between(1, std::max<hsize_t>(largest, 1));
  }
  if (product(to) > 100000) return;
  CHECK(H5Dset_extent(id(data), to.data()) >= 0);
  data.model.extend(to);
}

// Removes a group while it is open, with a dataset that lives on and is written to. When the last of them is closed,
// their space is free, and a dataset that HDF5 writes at once may get it.
void Program::remove_group() {
  const hid_t file = files_[dice_.below(files_.size())].id;
  const bool has_name = dice_.chance(70);
  Id group{has_name ? H5Gcreate2(file, "removed", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                    : H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT),
           H5Gclose};
  Model model;
  model.name = "inside";
  Id data = create_dataset(group.get(), model, dice_);
  if (has_name) CHECK(H5Ldelete(file, "removed", H5P_DEFAULT) >= 0);
  for (uint64_t writes = dice_.between(1, 3); writes > 0; --writes) {
    Transfer transfer(model, dice_);
    CHECK(H5Dwrite(data.get(), transfer.type(), transfer.memory_space(), transfer.file_space(), H5P_DEFAULT,
                   transfer.data()) >= 0);
    transfer.write_to(model);
  }
  if (dice_.chance(50)) read_by(data.get(), model);
  if (dice_.chance(20)) group.reset();
  data.reset();
  group.reset();
  write_text(file, product(model.shape));
}

// Removes a dataset. Its open objects live on without its name.
void Program::remove() {
  const size_t which = dice_.below(data_.size());
  Data& data = *data_[which];
  CHECK(H5Ldelete(files_[data.file].id, data.model.name.c_str(), H5P_DEFAULT) >= 0);
  if (data.id && dice_.chance(50)) {
    write_one(data);
    read_by(data.id.get(), data.model);
  }
  data_.erase(data_.begin() + static_cast<ptrdiff_t>(which));
}

void Program::move() {
  Data& data = some();
  const std::string name = "moved" + std::to_string(count_++);
  const hid_t file = files_[data.file].id;
  CHECK(H5Lmove(file, data.model.name.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0);
  data.model.name = name;
}

// HDF5 1.14.5 does not copy buffered data correctly: filtered chunks exceed its memory, and the last write of
// contiguous data may be missing.
void Program::copy() {
  if (data_.size() >= kMostData) return;
  Data& from = some();
  if (from.model.chunk.empty()) CHECK(H5Dflush(id(from)) >= 0);
  if (!from.model.chunk.empty()) from.id.reset();
  auto to = std::make_unique<Data>();
  to->file = dice_.below(files_.size());
  to->model = from.model;
  to->model.file = files_[to->file].path;
  to->model.name = "copy" + std::to_string(count_++);
  CHECK(H5Ocopy(files_[from.file].id, from.model.name.c_str(), files_[to->file].id, to->model.name.c_str(),
                H5P_DEFAULT, H5P_DEFAULT) >= 0);
  data_.push_back(std::move(to));
}

// Asks for facts that HDF5 itself knows: metadata work as usual.
void Program::ask() {
  Data& data = some();
  const std::string name = "attribute" + std::to_string(count_++);
  const Id space = space_of({3});
  const Id attribute{H5Acreate2(id(data), name.c_str(), H5T_STD_I32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose};
  const int numbers[3] = {1, 2, 3};
  int found[3] = {};
  CHECK(H5Awrite(attribute.get(), H5T_NATIVE_INT, numbers) >= 0);
  CHECK(H5Aread(attribute.get(), H5T_NATIVE_INT, found) >= 0 && std::memcmp(numbers, found, sizeof found) == 0);
  H5O_info2_t info{};
  CHECK(H5Oget_info3(id(data), &info, H5O_INFO_ALL) >= 0 && info.type == H5O_TYPE_DATASET);
  H5D_space_status_t status{};
  CHECK(H5Dget_space_status(id(data), &status) >= 0);
  compare_properties(id(data), data.model);
  hsize_t chunks = 0;
  if (!data.model.chunk.empty()) CHECK(H5Dget_num_chunks(id(data), H5S_ALL, &chunks) >= 0);
  haddr_t place = 0;
  if (chunks > 0 && dice_.chance(30)) {
    CHECK(H5Dget_chunk_info(id(data), H5S_ALL, dice_.below(chunks), nullptr, nullptr, &place, nullptr) >= 0);
  }
  if (data.model.chunk.empty() && dice_.chance(20)) compare_in_file(id(data), data.model);
}

// ---- writes and reads -------------------------------------------------------------------------------------------

void Program::write_one(Data& data) {
  Transfer transfer(data.model, dice_);
  CHECK(H5Dwrite(id(data), transfer.type(), transfer.memory_space(), transfer.file_space(), transfer.properties(),
                 transfer.data()) >= 0);
  transfer.write_to(data.model);
  transfer.scribble();
}

void Program::read_by(hid_t dataset, const Model& model) {
  Transfer transfer(model, dice_);
  transfer.scribble();
  CHECK(H5Dread(dataset, transfer.type(), transfer.memory_space(), transfer.file_space(), transfer.properties(),
                transfer.data()) >= 0);
  transfer.compare(model);
}

void Program::write() { write_one(some()); }

void Program::read() {
  Data& data = some();
  read_by(id(data), data.model);
}

void Program::read_as_second() {
  Data& data = some();
  const Id second{H5Dopen2(files_[data.file].id, data.model.name.c_str(), H5P_DEFAULT), H5Dclose};
  write_one(data);
  read_by(second.get(), data.model);
}

// Reads row after row, by one of two objects, with writes to it and to others in between.
void Program::read_rows() {
  Data& data = some();
  const Id second{H5Dopen2(files_[data.file].id, data.model.name.c_str(), H5P_DEFAULT), H5Dclose};
  const bool by_second = dice_.chance(50);
  const hsize_t count = dice_.between(1, 5);
  hsize_t at = dice_.below(data.model.shape[0]);
  for (uint64_t turn = 0; turn < 40 && at < data.model.shape[0]; ++turn) {
    Transfer transfer(data.model, rows_of(data.model.shape, at, count), dice_);
    transfer.scribble();
    CHECK(H5Dread(by_second ? second.get() : id(data), transfer.type(), transfer.memory_space(),
                  transfer.file_space(), transfer.properties(), transfer.data()) >= 0);
    transfer.compare(data.model);
    at += dice_.chance(90) ? count : dice_.below(3 * count);
    if (dice_.chance(25)) disturb(data, second.get());
  }
}

void Program::disturb(Data& data, hid_t second) {
  const uint64_t how = dice_.below(10);
  if (how < 3) return write_one(data);
  if (how < 6) {
    Transfer transfer(data.model, dice_);
    CHECK(H5Dwrite(second, transfer.type(), transfer.memory_space(), transfer.file_space(), transfer.properties(),
                   transfer.data()) >= 0);
    return transfer.write_to(data.model);
  }
  if (how == 6) return flush();
  if (how == 7) return write_multi();
  if (how == 8) return write_asynchronously();
  write_one(some());
}

// Through a virtual dataset in another file, which HDF5 itself reads from the files. (All of it: 1.14.5 ignores that
// a selection of one was moved.)
void Program::read_through_view() {
  const Data& data = some();
  look_through_view(files_[dice_.below(files_.size())].id, data.model, data.model.file);
}

void look_through_view(hid_t other, const Model& model, const std::string& path) {
  if (model.family != Family::numbers) return;
  const Id space = space_of(model.shape);
  const Id properties{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  CHECK(H5Pset_virtual(properties.get(), space.get(), path.c_str(), model.name.c_str(), space.get()) >= 0);
  const Id view{H5Dcreate_anon(other, H5T_NATIVE_DOUBLE, space.get(), properties.get(), H5P_DEFAULT), H5Dclose};
  compare_whole(view.get(), model);
}

void Program::use_swmr() { write_for_readers(directory_ + "/swmr" + std::to_string(count_++) + ".h5", dice_); }

void Program::use_closed() {
  const hid_t other = files_[dice_.below(files_.size())].id;
  use_what_was_just_closed(directory_ + "/closed" + std::to_string(count_++) + ".h5", other, dice_);
}

// Returns some datasets of one file, each once.
std::vector<Program::Data*> Program::some_of_one_file() {
  const size_t file = some().file;
  std::vector<Data*> chosen;
  for (const auto& data : data_) {
    if (data->file == file && (chosen.empty() || dice_.chance(50))) chosen.push_back(data.get());
  }
  return chosen;
}

void Program::write_multi() {
  const std::vector<Data*> chosen = some_of_one_file();
  std::vector<Transfer> transfers;
  std::vector<hid_t> ids, types, in_memory, in_file;
  std::vector<const void*> bytes;
  for (Data* const data : chosen) {
    const Transfer& transfer = transfers.emplace_back(data->model, dice_);
    ids.push_back(id(*data));
    types.push_back(transfer.type());
    in_memory.push_back(transfer.memory_space());
    in_file.push_back(transfer.file_space());
    bytes.push_back(transfer.data());
  }
  CHECK(H5Dwrite_multi(ids.size(), ids.data(), types.data(), in_memory.data(), in_file.data(), H5P_DEFAULT,
                       bytes.data()) >= 0);
  for (size_t i = 0; i < chosen.size(); ++i) transfers[i].write_to(chosen[i]->model);
}

// HDF5 may use the memory until wait(), which may be some steps later.
void Program::write_asynchronously() {
  if (events_ < 0) events_ = H5EScreate();
  CHECK(events_ >= 0);
  for (Data* const data : some_of_one_file()) {
    const Transfer& transfer = *held_.emplace_back(std::make_unique<Transfer>(data->model, dice_));
    CHECK(H5Dwrite_async(id(*data), transfer.type(), transfer.memory_space(), transfer.file_space(),
                         transfer.properties(), transfer.data(), events_) >= 0);
    transfer.write_to(data->model);
    if (dice_.chance(20)) data->id.reset();
  }
  if (dice_.chance(50)) wait();
}

void Program::wait() {
  if (events_ < 0) return;
  size_t going = 0;
  hbool_t failed = false;
  CHECK(H5ESwait(events_, H5ES_WAIT_FOREVER, &going, &failed) >= 0 && going == 0 && !failed);
  CHECK(H5ESclose(events_) >= 0);
  events_ = H5I_INVALID_HID;
  held_.clear();
}

// ---- what goes wrong --------------------------------------------------------------------------------------------

// HDF5 refuses the call, and nothing has changed.
void Program::mistake() {
  Data& data = some();
  const Id beyond = space_of({product(data.model.shape) + 1});
  const Id moved = space_of(data.model.shape);
  const std::vector<hssize_t> by(data.model.shape.size(), 1);
  const Shape begin(by.size());
  CHECK(H5Sselect_hyperslab(moved.get(), H5S_SELECT_SET, begin.data(), nullptr, data.model.shape.data(), nullptr) >=
        0);
  CHECK(H5Soffset_simple(moved.get(), by.data()) >= 0);
  const std::vector<double> numbers(2 * product(data.model.shape) + 2);
  const uint64_t how = dice_.below(4);
  const hid_t type = memory_type_of(data.model.family, 0).id;
  if (how == 0) CHECK(H5Dwrite(id(data), type, beyond.get(), H5S_ALL, H5P_DEFAULT, numbers.data()) < 0);
  if (how == 1) CHECK(H5Dwrite(id(data), type, moved.get(), moved.get(), H5P_DEFAULT, numbers.data()) < 0);
  if (how == 2) CHECK(H5Dopen2(files_[data.file].id, "nowhere", H5P_DEFAULT) < 0);
  if (how == 3) CHECK(H5Ldelete(files_[data.file].id, "nowhere/at/all", H5P_DEFAULT) < 0);
  read_by(id(data), data.model);
}

// Not under the thread sanitizer, which does not know new threads in a child; nor under the address sanitizer, whose
// allocator does not heed forks: if the writer's thread is inside it, the child waits for its lock for ever.
void Program::fork_child() {
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  write_in_child(directory_ + "/child" + std::to_string(count_++) + ".h5", dice_.below(1 << 30));
#endif
}

// Everything else must be in its file: the limit is for the whole process.
void Program::fill_disk() {
  for (const File& file : files_) CHECK(H5Fflush(file.id, H5F_SCOPE_GLOBAL) >= 0);
  write_beyond_limit(directory_ + "/full" + std::to_string(count_++) + ".h5", dice_);
}

}  // namespace tailrace::test
