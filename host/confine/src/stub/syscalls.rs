//! Which system calls a confined program has.

use super::filter::Sockets;

/// What the kernel does about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Allow,
    /// Fails with this error number.
    Error(i32),
    /// Ends the process.
    Kill,
}

/// How a call is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    Always(Answer),
    /// Allowed where every check holds.
    Unless {
        checks: &'static [Check],
        otherwise: Answer,
    },
}

/// What must hold for the arguments of a call, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// None of these bits is set.
    NoBits { argument: u32, bits: u32 },
    /// None of `bits` is set in `argument`, which means something only where one of `any` is set in `flags`.
    NoBitsIf { flags: u32, any: u32, argument: u32, bits: u32 },
    /// Under the mask, it is one of these.
    OneOf { argument: u32, mask: u32, values: &'static [u32] },
    /// It is none of these.
    NoneOf { argument: u32, values: &'static [u32] },
    /// One argument is zero, or the pointer in another is null.
    ZeroOrNull { argument: u32, pointer: u32 },
}

const DENIED: Answer = Answer::Error(libc::EPERM);
const WHOLE: u32 = u32::MAX;
/// Removes the flags that share an argument with a socket's type.
const TYPE: u32 = 0xF;

/// Set-user-ID and set-group-ID. Such a file in the workspace would lend its owner's rights to whoever starts it outside.
const SET_ID: u32 = 0o6000;
/// `O_CREAT`, and the bit that tells `O_TMPFILE` from `O_DIRECTORY`: only with these does a mode mean anything.
const CREATES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).cast_unsigned();

const NAMESPACE_FLAGS: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// The same number on every machine, and not in every version of the C library's list.
const FCHMODAT2: libc::c_long = 452;

/// Requests that put words into a terminal as if its person had typed them, or take its output.
const TERMINAL: &[u32] = &[0x5412, 0x541C, 0x541D];

/// A call by its number.
macro_rules! numbers {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

/// Calls that are allowed only with harmless arguments.
const CHECKED: &[(libc::c_long, &[Check], Answer)] = &[
    (libc::SYS_clone, &[Check::NoBits { argument: 0, bits: NAMESPACE_FLAGS }], DENIED),
    (libc::SYS_ioctl, &[Check::NoneOf { argument: 1, values: TERMINAL }], DENIED),
    // Only the usual personality, and asking which it is.
    (libc::SYS_personality, &[Check::OneOf { argument: 0, mask: WHOLE, values: &[0, u32::MAX] }], DENIED),
    // The limits of other processes, process 1 among them, can be read but not set.
    (libc::SYS_prlimit64, &[Check::ZeroOrNull { argument: 0, pointer: 2 }], DENIED),
    (libc::SYS_fchmod, &[Check::NoBits { argument: 1, bits: SET_ID }], DENIED),
    (libc::SYS_fchmodat, &[Check::NoBits { argument: 2, bits: SET_ID }], DENIED),
    (FCHMODAT2, &[Check::NoBits { argument: 2, bits: SET_ID }], DENIED),
    (libc::SYS_mknodat, &[Check::NoBits { argument: 2, bits: SET_ID }], DENIED),
    (libc::SYS_openat, &[Check::NoBitsIf { flags: 2, any: CREATES, argument: 3, bits: SET_ID }], DENIED),
    // A pair is connected to itself. A datagram one could still send to any address.
    (
        libc::SYS_socketpair,
        &[
            Check::OneOf { argument: 0, mask: WHOLE, values: &[libc::AF_UNIX.cast_unsigned()] },
            Check::OneOf {
                argument: 1,
                mask: TYPE,
                values: &[libc::SOCK_STREAM.cast_unsigned(), libc::SOCK_SEQPACKET.cast_unsigned()],
            },
        ],
        DENIED,
    ),
];

#[cfg(target_arch = "x86_64")]
const CHECKED_LEGACY: &[(libc::c_long, &[Check], Answer)] = &[
    (libc::SYS_chmod, &[Check::NoBits { argument: 1, bits: SET_ID }], DENIED),
    (libc::SYS_creat, &[Check::NoBits { argument: 1, bits: SET_ID }], DENIED),
    (libc::SYS_mknod, &[Check::NoBits { argument: 1, bits: SET_ID }], DENIED),
    (libc::SYS_open, &[Check::NoBitsIf { flags: 1, any: CREATES, argument: 2, bits: SET_ID }], DENIED),
];
#[cfg(not(target_arch = "x86_64"))]
const CHECKED_LEGACY: &[(libc::c_long, &[Check], Answer)] = &[];

/// TCP over IPv4 or IPv6, by its own number or by default: no datagrams, no raw packets, no netlink, no multipath.
const TCP: &[Check] = &[
    Check::OneOf { argument: 0, mask: WHOLE, values: &[libc::AF_INET.cast_unsigned(), libc::AF_INET6.cast_unsigned()] },
    Check::OneOf { argument: 1, mask: TYPE, values: &[libc::SOCK_STREAM.cast_unsigned()] },
    Check::OneOf { argument: 2, mask: WHOLE, values: &[0, libc::IPPROTO_TCP.cast_unsigned()] },
];
/// What a program hears that has no such sockets; libraries try the next family or go on without.
const NO_SOCKET: Answer = Answer::Error(libc::EAFNOSUPPORT);

/// Calls that have no business in a confined program and exist since long, so that a program which makes one is told
/// that it may not, and not that the kernel is old. Everything else that is not listed here or as allowed does not exist: io_uring,
/// `clone3` and `openat2` (whose arguments a filter cannot see), and whatever the next kernel brings.
const FORBIDDEN: &[libc::c_long] = numbers! {
    SYS_acct SYS_add_key SYS_adjtimex SYS_bpf SYS_chroot SYS_clock_adjtime SYS_clock_settime SYS_delete_module
    SYS_fanotify_init SYS_fanotify_mark SYS_finit_module SYS_fsconfig SYS_fsmount SYS_fsopen SYS_fspick SYS_init_module
    SYS_kcmp SYS_kexec_file_load SYS_kexec_load SYS_keyctl SYS_lookup_dcookie SYS_mbind SYS_migrate_pages SYS_mount
    SYS_mount_setattr SYS_move_mount SYS_move_pages SYS_name_to_handle_at SYS_nfsservctl SYS_open_by_handle_at SYS_open_tree
    SYS_perf_event_open SYS_pidfd_getfd SYS_pivot_root SYS_process_madvise SYS_process_mrelease SYS_process_vm_readv
    SYS_process_vm_writev SYS_ptrace SYS_quotactl SYS_quotactl_fd SYS_reboot SYS_request_key SYS_set_mempolicy
    SYS_setdomainname SYS_sethostname SYS_setns SYS_settimeofday SYS_swapoff SYS_swapon SYS_syslog SYS_umount2 SYS_unshare
    SYS_userfaultfd SYS_vhangup
};

/// What programs are made of.
const ALLOWED: &[libc::c_long] = numbers! {
    SYS_accept SYS_accept4 SYS_bind SYS_brk SYS_capget SYS_capset SYS_chdir SYS_clock_getres SYS_clock_gettime
    SYS_clock_nanosleep SYS_close SYS_close_range SYS_connect SYS_copy_file_range SYS_dup SYS_dup3 SYS_epoll_create1
    SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_faccessat
    SYS_faccessat2 SYS_fadvise64 SYS_fallocate SYS_fchdir SYS_fchown SYS_fchownat SYS_fcntl SYS_fdatasync SYS_fgetxattr
    SYS_flistxattr SYS_flock SYS_fremovexattr SYS_fsetxattr SYS_fstat SYS_fstatfs SYS_fsync SYS_ftruncate SYS_futex
    SYS_futex_waitv SYS_get_mempolicy SYS_get_robust_list SYS_getcpu SYS_getcwd SYS_getdents64 SYS_getegid SYS_geteuid
    SYS_getgid SYS_getgroups SYS_getitimer SYS_getpeername SYS_getpgid SYS_getpid SYS_getppid SYS_getpriority SYS_getrandom
    SYS_getresgid SYS_getresuid SYS_getrlimit SYS_getrusage SYS_getsid SYS_getsockname SYS_getsockopt SYS_gettid
    SYS_gettimeofday SYS_getuid SYS_getxattr SYS_inotify_add_watch SYS_inotify_init1 SYS_inotify_rm_watch SYS_io_cancel
    SYS_io_destroy SYS_io_getevents SYS_io_setup SYS_io_submit SYS_ioprio_get SYS_ioprio_set SYS_kill
    SYS_landlock_add_rule SYS_landlock_create_ruleset SYS_landlock_restrict_self SYS_lgetxattr SYS_linkat SYS_listen
    SYS_listxattr SYS_llistxattr SYS_lremovexattr SYS_lseek SYS_lsetxattr SYS_madvise SYS_membarrier SYS_memfd_create
    SYS_mincore SYS_mkdirat SYS_mlock SYS_mlock2 SYS_mlockall SYS_mmap SYS_mprotect SYS_mq_getsetattr SYS_mq_notify
    SYS_mq_open SYS_mq_timedreceive SYS_mq_timedsend SYS_mq_unlink SYS_mremap SYS_mseal SYS_msgctl SYS_msgget SYS_msgrcv
    SYS_msgsnd SYS_msync SYS_munlock SYS_munlockall SYS_munmap SYS_nanosleep SYS_newfstatat SYS_pidfd_open
    SYS_pidfd_send_signal SYS_pipe2 SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect SYS_ppoll SYS_prctl SYS_pread64 SYS_preadv
    SYS_preadv2 SYS_pselect6 SYS_pwrite64 SYS_pwritev SYS_pwritev2 SYS_read SYS_readahead SYS_readlinkat SYS_readv
    SYS_recvfrom SYS_recvmmsg SYS_recvmsg SYS_remap_file_pages SYS_removexattr SYS_renameat SYS_renameat2
    SYS_restart_syscall SYS_rseq SYS_rt_sigaction SYS_rt_sigpending SYS_rt_sigprocmask SYS_rt_sigqueueinfo SYS_rt_sigreturn
    SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_rt_tgsigqueueinfo SYS_sched_get_priority_max SYS_sched_get_priority_min
    SYS_sched_getaffinity SYS_sched_getattr SYS_sched_getparam SYS_sched_getscheduler SYS_sched_rr_get_interval
    SYS_sched_setaffinity SYS_sched_setattr SYS_sched_setparam SYS_sched_setscheduler SYS_sched_yield SYS_seccomp SYS_semctl
    SYS_semget SYS_semop SYS_semtimedop SYS_sendfile SYS_sendmmsg SYS_sendmsg SYS_sendto SYS_set_robust_list
    SYS_set_tid_address SYS_setfsgid SYS_setfsuid SYS_setgid SYS_setgroups SYS_setitimer SYS_setpgid SYS_setpriority
    SYS_setregid SYS_setresgid SYS_setresuid SYS_setreuid SYS_setrlimit SYS_setsid SYS_setsockopt SYS_setuid SYS_setxattr
    SYS_shmat SYS_shmctl SYS_shmdt SYS_shmget SYS_shutdown SYS_sigaltstack SYS_signalfd4 SYS_splice SYS_statfs SYS_statx
    SYS_symlinkat SYS_sync SYS_sync_file_range SYS_syncfs SYS_sysinfo SYS_tee SYS_tgkill SYS_timer_create SYS_timer_delete
    SYS_timer_getoverrun SYS_timer_gettime SYS_timer_settime SYS_timerfd_create SYS_timerfd_gettime SYS_timerfd_settime
    SYS_times SYS_tkill SYS_truncate SYS_umask SYS_uname SYS_unlinkat SYS_utimensat SYS_vmsplice SYS_wait4 SYS_waitid
    SYS_write SYS_writev
};

/// Calls that only the older architecture has.
#[cfg(target_arch = "x86_64")]
const ALLOWED_LEGACY: &[libc::c_long] = numbers! {
    SYS_access SYS_alarm SYS_arch_prctl SYS_chown SYS_dup2 SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_fork
    SYS_futimesat SYS_getdents SYS_getpgrp SYS_inotify_init SYS_lchown SYS_link SYS_lstat SYS_mkdir SYS_pause SYS_pipe SYS_poll
    SYS_readlink SYS_rename SYS_rmdir SYS_select SYS_signalfd SYS_stat SYS_symlink SYS_time SYS_unlink SYS_utime SYS_utimes
    SYS_vfork
};
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_LEGACY: &[libc::c_long] = &[];

#[cfg(target_arch = "x86_64")]
const FORBIDDEN_LEGACY: &[libc::c_long] =
    numbers! { SYS_ioperm SYS_iopl SYS_modify_ldt SYS_uselib SYS_ustat SYS_sysfs };
#[cfg(not(target_arch = "x86_64"))]
const FORBIDDEN_LEGACY: &[libc::c_long] = &[];

/// The rule of every call that has one, by number.
pub fn rules(sockets: Sockets) -> Vec<(u32, Rule)> {
    let always =
        |numbers: &'static [libc::c_long], answer| numbers.iter().map(move |number| (*number, Rule::Always(answer)));
    let checked = |calls: &'static [(libc::c_long, &'static [Check], Answer)]| {
        calls.iter().map(|(number, checks, otherwise)| (*number, Rule::Unless { checks, otherwise: *otherwise }))
    };
    let socket = match sockets {
        Sockets::None => Rule::Always(NO_SOCKET),
        Sockets::Stream => Rule::Unless { checks: TCP, otherwise: NO_SOCKET },
    };
    let mut rules: Vec<(u32, Rule)> = always(ALLOWED, Answer::Allow)
        .chain(always(ALLOWED_LEGACY, Answer::Allow))
        .chain(always(FORBIDDEN, DENIED))
        .chain(always(FORBIDDEN_LEGACY, DENIED))
        .chain(checked(CHECKED))
        .chain(checked(CHECKED_LEGACY))
        .chain([(libc::SYS_socket, socket)])
        .filter_map(|(number, rule)| Some((u32::try_from(number).ok()?, rule)))
        .collect();
    rules.sort_unstable_by_key(|(number, _)| *number);
    rules
}
