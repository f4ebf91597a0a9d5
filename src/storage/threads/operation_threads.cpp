#include "storage/threads/operation_threads.hpp"

#include <utility>

namespace tailrace::impl {
namespace {

Capabilities with_threads(Capabilities inner, OperationThreads::Carries carries) {
  if (carries == OperationThreads::Carries::all) inner.operations = OperationThreads::kMostThreads;
  return inner;
}

}  // namespace

OperationThreads::OperationThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus,
                                   Carries carries)
    : inner_(std::move(inner)),
      carries_(carries),
      capabilities_(with_threads(inner_->capabilities(), carries)),
      threads_({"tailrace-names", kMostThreads, std::move(cpus)}, doorbell,
               [this](const FileOperation& one) { return carry_out(*files_, one); }) {}

// Without any thread, a call is carried out here.
void OperationThreads::submit(FileOperation operation) {
  const bool passes = carries_ == Carries::calls && operation.kind != FileOperation::Kind::call;
  if (passes) return inner_->submit(std::move(operation));
  if (files_ == nullptr) files_ = &inner_->files_of_threads();
  if (!threads_.submit(operation)) inner_->submit(std::move(operation));
}

std::optional<FileOperationEnd> OperationThreads::reap_operation() {
  if (auto end = threads_.reap()) return end;
  return inner_->reap_operation();
}

}  // namespace tailrace::impl
