#pragma once
#include <git2.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>

// Swift cannot call C variadics; these are the two shapes of `git_libgit2_opts` that are used.
static inline int concord_git_set_flag(git_libgit2_opt_t option, int enabled) {
    return git_libgit2_opts(option, enabled);
}
static inline int concord_git_set_size(git_libgit2_opt_t option, size_t value) {
    return git_libgit2_opts(option, value);
}
