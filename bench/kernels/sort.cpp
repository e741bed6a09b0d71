// A bucket sort of integers: all ranks agree on the rank of each bucket, then each key goes to its bucket's
// rank.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include <algorithm>
#include <vector>

namespace fsbml::bench
{

namespace
{

using Key = std::uint32_t;

const int bucket_bits = 10;
const int buckets = 1 << bucket_bits;

// What a sort must not change.
struct Digest {
    std::uint64_t count = 0, sum = 0, scrambled = 0;

    explicit Digest(const std::vector<Key> &keys) : count(keys.size())
    {
        for (Key key : keys) {
            sum += key;
            scrambled += scramble(key);
        }
        std::uint64_t mine[3] = {count, sum, scrambled};
        std::uint64_t all[3];
        MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        count = all[0];
        sum = all[1];
        scrambled = all[2];
    }
};

class Sort : public Kernel
{
public:
    explicit Sort(Size size)
        : keys_total_(pick(size, 1 << 16, 1 << 20, 1 << 24)), key_bits_(pick(size, 16, 18, 20)),
          bucket_shift_(key_bits_ - bucket_bits), bucket_counts_(buckets), all_bucket_counts_(buckets),
          send_counts_(static_cast<std::size_t>(ranks_)), send_offsets_(send_counts_), counts_(send_counts_),
          offsets_(send_counts_)
    {
        const int begin = share_begin(keys_total_, ranks_, rank_);
        const int end = share_begin(keys_total_, ranks_, rank_ + 1);
        for (int index = begin; index < end; ++index) {
            keys_.push_back(draw(static_cast<std::uint64_t>(index)));
        }
    }

    void prepare() override { sorted_.clear(); }

    void step() override
    {
        std::fill(bucket_counts_.begin(), bucket_counts_.end(), 0);
        for (Key key : keys_) {
            ++bucket_counts_[key >> bucket_shift_];
        }
        communicate([&] {
            MPI_Allreduce(bucket_counts_.data(), all_bucket_counts_.data(), buckets, MPI_INT, MPI_SUM,
                          MPI_COMM_WORLD);
        });
        deal_buckets();
        pack();
        communicate([&] {
            MPI_Alltoall(send_counts_.data(), 1, MPI_INT, counts_.data(), 1, MPI_INT, MPI_COMM_WORLD);
        });
        received_.resize(static_cast<std::size_t>(add_up(counts_, offsets_)));
        communicate([&] {
            MPI_Alltoallv(packed_.data(), send_counts_.data(), send_offsets_.data(), MPI_UINT32_T,
                          received_.data(), counts_.data(), offsets_.data(), MPI_UINT32_T, MPI_COMM_WORLD);
        });
        sort_mine();
    }

    std::string check() override
    {
        if (!std::is_sorted(sorted_.begin(), sorted_.end())) {
            return "the keys of one rank are not in order";
        }
        // The largest key of all ranks before me.
        const std::int64_t largest = sorted_.empty() ? -1 : static_cast<std::int64_t>(sorted_.back());
        std::int64_t before = -1;
        MPI_Exscan(&largest, &before, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        if (rank_ > 0 && !sorted_.empty() && before > static_cast<std::int64_t>(sorted_.front())) {
            return "an earlier rank has a larger key";
        }
        const Digest in(keys_);
        const Digest out(sorted_);
        if (out.count != static_cast<std::uint64_t>(keys_total_)) {
            return std::to_string(keys_total_) + " keys became " + std::to_string(out.count);
        }
        return in.sum == out.sum && in.scrambled == out.scrambled
                   ? ""
                   : "the sorted keys are not those that were sorted";
    }

    Volume volume() const override
    {
        Volume volume;
        if (ranks_ == 1) {
            return volume;
        }
        volume.messages = 1 + (ranks_ - 1);
        volume.bytes = buckets * sizeof(int) + static_cast<double>(ranks_ - 1) * sizeof(int);
        for (int rank = 0; rank < ranks_; ++rank) {
            const int count = send_counts_[static_cast<std::size_t>(rank)];
            if (rank != rank_ && count > 0) {
                volume.messages += 1;
                volume.bytes += static_cast<double>(count) * sizeof(Key);
            }
        }
        return volume;
    }

    int usual_steps() const override { return 1; }

private:
    // The mean of four numbers: most keys are in the middle, so that buckets and messages differ in size.
    Key draw(std::uint64_t index) const
    {
        std::uint64_t sum = 0;
        for (std::uint64_t part = 0; part < 4; ++part) {
            sum += scramble(4 * index + part) >> (64 - key_bits_);
        }
        return static_cast<Key>(sum / 4);
    }

    static int add_up(const std::vector<int> &counts, std::vector<int> &offsets)
    {
        int sum = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            offsets[i] = sum;
            sum += counts[i];
        }
        return sum;
    }

    // Neighbouring buckets to one rank, until the ranks so far have their share of the keys.
    void deal_buckets()
    {
        first_bucket_.assign(static_cast<std::size_t>(ranks_) + 1, buckets);
        first_bucket_[0] = 0;
        int rank = 0;
        int keys = 0;
        for (int bucket = 0; bucket < buckets; ++bucket) {
            while (rank + 1 < ranks_ && keys >= share_begin(keys_total_, ranks_, rank + 1)) {
                first_bucket_[static_cast<std::size_t>(++rank)] = bucket;
            }
            keys += all_bucket_counts_[static_cast<std::size_t>(bucket)];
        }
    }

    // The keys in the order of their buckets, and so of the ranks they go to.
    void pack()
    {
        next_.resize(buckets);
        add_up(bucket_counts_, next_);
        for (int rank = 0; rank < ranks_; ++rank) {
            const auto begin = bucket_counts_.begin() + first_bucket_[static_cast<std::size_t>(rank)];
            const auto end = bucket_counts_.begin() + first_bucket_[static_cast<std::size_t>(rank) + 1];
            int count = 0;
            std::for_each(begin, end, [&](int keys) { count += keys; });
            send_counts_[static_cast<std::size_t>(rank)] = count;
        }
        add_up(send_counts_, send_offsets_);
        packed_.resize(keys_.size());
        for (Key key : keys_) {
            packed_[static_cast<std::size_t>(next_[key >> bucket_shift_]++)] = key;
        }
    }

    // By counting: there are fewer values than keys, or not many more.
    void sort_mine()
    {
        const Key low = static_cast<Key>(first_bucket_[static_cast<std::size_t>(rank_)]) << bucket_shift_;
        const Key high = static_cast<Key>(first_bucket_[static_cast<std::size_t>(rank_) + 1])
                         << bucket_shift_;
        next_.assign(high - low, 0);
        sorted_.clear();
        for (Key key : received_) {
            // A key that does not belong here is left out, which the check finds.
            if (key >= low && key < high) {
                ++next_[key - low];
            }
        }
        for (Key value = low; value < high; ++value) {
            sorted_.insert(sorted_.end(), static_cast<std::size_t>(next_[value - low]), value);
        }
    }

    int keys_total_;
    int key_bits_; // a key is less than 2 to the power of this
    int bucket_shift_;
    std::vector<Key> keys_, packed_, received_, sorted_;
    std::vector<int> bucket_counts_, all_bucket_counts_;
    std::vector<int> first_bucket_; // of each rank
    std::vector<int> send_counts_, send_offsets_, counts_, offsets_;
    std::vector<int> next_;
};

} // namespace

std::unique_ptr<Kernel> make_sort(Size size)
{
    return std::make_unique<Sort>(size);
}

} // namespace fsbml::bench
