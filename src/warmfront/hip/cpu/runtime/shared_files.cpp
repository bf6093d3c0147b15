// Each process that exports memory holds a lock on a file `owner-ID`; its memory is in files `ipc-ID-NUMBER`.
#include "shared_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace hipcpu {

namespace {

constexpr char kOwner[] = "owner-";
constexpr char kMemory[] = "ipc-";

std::string random_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  uint8_t bytes[8] = {};
  [[maybe_unused]] const auto got = getrandom(bytes, sizeof bytes, 0);
  std::string id;
  for (const uint8_t byte : bytes) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

std::vector<std::string> names_with(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory))
    if (std::string(entry->d_name).rfind(prefix, 0) == 0) names.emplace_back(entry->d_name);
  closedir(directory);
  return names;
}

bool try_lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0; }

void remove_ended(const std::string& folder) {
  for (const std::string& owner : names_with(folder, kOwner)) {
    const std::string path = folder + "/" + owner;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    if (try_lock(fd)) {
      const std::string id = owner.substr(sizeof kOwner - 1);
      for (const std::string& name : names_with(folder, kMemory + id + "-")) unlink((folder + "/" + name).c_str());
      unlink(path.c_str());
    }
    close(fd);
  }
}

// The lock is held until the process ends. Another process may have removed the file before it was locked.
bool hold_lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  struct stat held {};
  struct stat named {};
  const bool ours = try_lock(fd) && fstat(fd, &held) == 0 && stat(path.c_str(), &named) == 0 &&
                    held.st_ino == named.st_ino;
  if (!ours) close(fd);
  return ours;
}

std::string& lock_path() {
  static std::string& only = *new std::string;
  return only;
}

__attribute__((destructor)) void remove_lock() {
  if (!lock_path().empty()) unlink(lock_path().c_str());
}

// The id of this process in this folder; empty if nothing can be created in it.
std::string owner_id(const std::string& folder) {
  static std::mutex mutex;
  static std::string& locked_folder = *new std::string;
  static std::string& id = *new std::string;
  const std::lock_guard lock(mutex);
  if (locked_folder == folder) return id;
  remove_ended(folder);
  std::string candidate = random_id();
  for (int tries = 0; !hold_lock(folder + "/" + kOwner + candidate); candidate = random_id())
    if (++tries == 3) return "";
  remove_lock();  // of another folder
  lock_path() = folder + "/" + kOwner + candidate;
  locked_folder = folder;
  id = candidate;
  return id;
}

}  // namespace

int create_shared_file(const std::string& folder, size_t bytes, std::string* path) {
  static std::atomic<unsigned> count{0};
  const std::string id = owner_id(folder);
  if (id.empty()) return -1;
  *path = folder + "/" + kMemory + id + "-" + std::to_string(count++);
  const int fd = open(path->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  close(fd);
  unlink(path->c_str());
  return -1;
}

}  // namespace hipcpu
