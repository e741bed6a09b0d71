// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// An emulator of networks: what a direction of a link does to frames, TAP devices, the loop that carries
// frames between them, and requests to change links meanwhile.
#ifndef FSBML_TOOLS_LINK_HPP
#define FSBML_TOOLS_LINK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace fsbml::link
{

using Ns = std::int64_t; // CLOCK_MONOTONIC, nanoseconds

// What one direction of a link does to frames, and how users write it.
struct Shape {
    std::uint64_t rate = 0;       // bits a second; 0: no limit
    Ns delay = 0;                 // after the last bit
    Ns jitter = 0;                // delay +- jitter, evenly spread; frames keep their order
    double loss = 0.0;            // share of frames that do not arrive, 0 to 1
    std::uint64_t queue = 400000; // bytes that may wait; what comes more is dropped
    bool down = false;            // no frame passes
};

// Applies one word to a shape: rate=20mbit, delay=2ms, jitter=100us, loss=0.1%, queue=64kb, up, down.
// Throws std::invalid_argument with a sentence for users; the shape is then as it was.
void change(Shape &shape, const std::string &word);

// The same for several; all or nothing.
void change_all(Shape &shape, const std::vector<std::string> &words);

// The words say what a way over two such links does, from node to node: each has half of the delay and the
// jitter, and its part of the loss. Rate and queue are each link's own.
void change_half(Shape &shape, const std::vector<std::string> &words);

// As change() takes it, with all of the values.
std::string text_of(const Shape &shape);

// One direction of a link: when a frame that comes now is at the other end, if it gets there. No clock, no
// I/O. A frame waits for those before it, takes 8 bytes / rate on the wire, and then the delay. Strictly
// serial: a pause earns no credit, unlike with a token bucket.
//
//   offered --> queue (bytes) --> wire (rate) --> delay +- jitter, loss --> due
class Direction
{
public:
    struct Counters {
        std::uint64_t frames = 0; // that got through, and their bytes
        std::uint64_t bytes = 0;
        std::uint64_t full = 0; // dropped: no room in the queue
        std::uint64_t lost = 0; // dropped: loss
        std::uint64_t cut = 0;  // dropped: the link is down
    };

    // `cut_through`: a frame comes from a link that has already taken its time; it is passed on while it
    // comes in, so that a path of two links of one rate costs that time once.
    Direction(const Shape &shape, bool cut_through, std::uint64_t seed)
        : shape_(shape), cut_through_(cut_through), random_(seed)
    {
    }

    // A frame of `bytes` (Ethernet header included) comes at `now`, which never goes back. Returns when it is
    // due at the other end, not before any earlier frame; nothing if it is dropped.
    std::optional<Ns> offer(Ns now, std::size_t bytes);

    // What is on its way keeps its time.
    void set_shape(const Shape &shape) { shape_ = shape; }
    const Shape &shape() const { return shape_; }
    const Counters &counters() const { return counters_; }

private:
    Shape shape_;
    const bool cut_through_;
    std::mt19937_64 random_;
    double busy_until_ = 0.0; // ns, with its fraction: a frame of 64 bytes takes 5.12 ns at 100 Gbit/s
    Ns last_due_ = 0;
    Counters counters_;
};

// ---- A TAP device: a network interface whose frames this process carries.

constexpr std::size_t kFrameMax = 9216; // of a frame without its checksum; jumbo frames fit

// Exists as long as this object does: with the process, the interface is gone.
class Tap
{
public:
    // Makes `interface` in the network namespace of that file (such as /run/netns/NAME; "" is this process'
    // own). Throws std::system_error, std::invalid_argument.
    Tap(const std::string &name_space, const std::string &interface);
    ~Tap();
    Tap(Tap &&other) noexcept;
    Tap(const Tap &) = delete;
    Tap &operator=(const Tap &) = delete;
    Tap &operator=(Tap &&) = delete;

    int fd() const { return fd_; }
    // A frame that the kernel sends, into a buffer of kFrameMax bytes; 0 if there is none now.
    std::size_t read(void *buffer);
    // Gives a frame to the kernel. False if it takes none: the interface is down, or memory is short.
    bool write(const void *frame, std::size_t bytes);

private:
    int fd_ = -1;
};

// ---- The links of a cluster, and the loop that carries their frames.

// Two TAP devices: what one sends the other receives, as the shapes have it.
struct Link {
    std::string name;          // "n1r0"
    Tap near;                  // in the node
    Tap far;                   // at the switch
    Direction out;             // from the node to the switch
    Direction in;              // from the switch to the node
    std::uint64_t refused = 0; // frames that an interface did not take
};

class Board
{
public:
    Board();
    ~Board();
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    void add(std::unique_ptr<Link> link);
    Link *find(const std::string &name);
    const std::vector<std::unique_ptr<Link>> &links() const { return links_; }

    // Also wakes for this file; `ready` is called then. One file at most.
    template <class F>
    void also(int fd, F ready)
    {
        other_ = std::move(ready);
        watch(fd, kOther);
    }
    // Carries frames until stop(), which a signal handler may call.
    void run();
    static void stop() noexcept;

private:
    struct Frame {
        std::size_t bytes = 0;
        std::array<unsigned char, kFrameMax> data;
    };
    struct Due {
        Ns at;
        std::uint64_t order; // of equal times the first comes first
        Tap *to;
        Link *link;
        Frame *frame;
        bool operator<(const Due &other) const
        {
            return at != other.at ? at > other.at : order > other.order; // the earliest on top
        }
    };
    static constexpr std::uint64_t kOther = ~std::uint64_t{0};

    void watch(int fd, std::uint64_t what);
    void take(Link &link, bool from_near);
    void deliver(Ns now);
    Frame *frame();

    const int epoll_;
    std::vector<std::unique_ptr<Link>> links_;
    std::priority_queue<Due> due_;
    std::vector<std::unique_ptr<Frame>> frames_; // all that were ever made
    std::vector<Frame *> free_;
    std::uint64_t order_ = 0;
    std::function<void()> other_;
};

// ---- Changing links while they carry frames: requests by a Unix socket, one packet each.

// What a request does and answers; "error: ..." if it is refused, and then nothing is changed.
//   set LINK WORD...            changes both directions, as of a way over two such links (change_half)
//   set LINK out|in WORD...     changes one of them
//   show                        a line a direction: shape and counters
//   stop                        the emulator ends
std::string answer(Board &board, const std::string &request);

// The emulator's end: a socket that must not exist yet. Throws std::system_error.
class Control
{
public:
    Control(Board &board, const std::string &path);
    ~Control();
    Control(const Control &) = delete;
    Control &operator=(const Control &) = delete;

private:
    void serve();
    void accept();
    void reply_to(int client);
    void leave(int client);

    Board &board_;
    const std::string path_;
    int listening_;
    int ready_;               // wakes for the listening socket and the clients
    std::deque<int> clients_; // that have not asked yet, the oldest first
};

// The other end: sends a request to an emulator and returns its answer. Throws std::system_error, also if
// there is no answer within five seconds.
std::string ask(const std::string &path, const std::string &request);

} // namespace fsbml::link

#endif
