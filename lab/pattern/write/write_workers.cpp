// Chooses a writer by its name. See write_worker.hpp.
#include "lab/pattern/errors.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {

std::unique_ptr<WriteWorker> make_write_worker(const WriteContext& context) {
  switch (context.options.writer) {
    case Writer::none: return make_none(context);
    case Writer::sync: return make_sync(context);
    case Writer::sync_hdf5: return make_sync_hdf5(context);
    case Writer::bare: return make_bare(context);
    case Writer::posix_aio: return make_posix_aio(context);
    case Writer::tailrace: return make_tailrace(context);
  }
  throw UsageError("no such writer");
}

}  // namespace bench
