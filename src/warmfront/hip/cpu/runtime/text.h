// Text in a buffer of fixed size, built with async-signal-safe operations only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipcpu {

class Text {
 public:
  Text& operator<<(const char* text) {
    for (; *text; ++text) put(*text);
    return *this;
  }

  Text& operator<<(uint64_t number) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    while (count) put(digits[--count]);
    return *this;
  }

  // A JSON string, with its quotes.
  Text& quote(const char* text) {
    put('"');
    for (; *text; ++text) escape(*text);
    put('"');
    return *this;
  }

  const char* data() const { return buffer_; }
  size_t size() const { return size_; }

 private:
  void escape(char c) {
    constexpr char kHex[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
      put('\\');
      put(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      *this << "\\u00";
      put(kHex[c >> 4]);
      put(kHex[c & 15]);
    } else {
      put(c);
    }
  }

  void put(char c) {
    if (size_ + 1 < sizeof buffer_) buffer_[size_++] = c;  // always null-terminated
  }

  char buffer_[2048] = {};
  size_t size_ = 0;
};

}  // namespace hipcpu
