/* Logs of Linux, as people attach them to issues of their kernels: the lines are of such logs,
 * shortened. What is expected is what they say: Documentation/arch/x86/kernel-stacks.rst has what
 * "?" means. */
#include <string.h>

#include "stack_text.h"
#include "test.h"

TEST(reports_of_linux)
{
    static const struct stack_text_row rows[] = {
        {"an oops of x86, with the lines around it",
         "[   27.100000] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
         "[   27.100001] #PF: supervisor write access in kernel mode\n"
         "[   27.100003] PGD 0 P4D 0 \n"
         "[   27.100004] Oops: 0002 [#1] PREEMPT SMP PTI\n"
         "[   27.100005] CPU: 1 PID: 1234 Comm: insmod Tainted: G OE 6.1.0-13-amd64 #1\n"
         "[   27.100007] RIP: 0010:oops_init+0x1a/0x1000 [oops]\n"
         "[   27.100008] Code: Unable to access opcode bytes at 0xffffffffc0b4dff0.\n"
         "[   27.100009] RSP: 0018:ffffb1a4c0a3fc10 EFLAGS: 00010246\n"
         "[   27.100020] Call Trace:\n[   27.100021]  <TASK>\n"
         "[   27.100022]  ? __die_body.cold+0x1a/0x1f\n"
         "[   27.100024]  do_one_initcall+0x56/0x210\n"
         "[   27.100028]  entry_SYSCALL_64_after_hwframe+0x64/0xce\n"
         "[   27.100029] RIP: 0033:0x7f1c3d11fa29\n[   27.100031]  </TASK>\n"
         "[   27.100032] Modules linked in: oops(OE+) intel_rapl_msr\n"
         "[   27.100034] ---[ end trace 0000000000000000 ]---\n"
         "[   27.100035] RIP: 0010:oops_init+0x1a/0x1000 [oops]\n",
         "-: oops!oops_init!0x0@i vmlinux!do_one_initcall!0x0@r "
         "vmlinux!entry_SYSCALL_64_after_hwframe!0x0@r\n"},
        {"syslog, an address and a warning after an oops",
         "Jan 12 10:00:00 host kernel: [12345.678900] WARNING: CPU: 0 PID: 9 at a.c:7 b+0x1/0x2\n"
         "Jan 12 10:00:00 host kernel: [12345.678901] Call Trace:\n"
         "Jan 12 10:00:00 host kernel: [12345.678902]  [<ffffffff8108e2f1>] ? "
         "warn_slowpath_common+0x81/0xc0\n"
         "Jan 12 10:00:00 host kernel: [12345.678903]  [<ffffffffa0362b7a>] bar_ioctl+0x2a/0x40 "
         "[bar]\n"
         "Jan 12 10:00:00 host kernel: [12345.678904]  [<ffffffff8119d2a4>] "
         "do_vfs_ioctl+0x2e4/0x4e0\n"
         "Jan 12 10:00:01 host kernel: [12346.678904] BUG: unable to handle page fault\n"
         "Jan 12 10:00:01 host kernel: [12346.678905] RIP: 0010:[<ffffffff8119d2a4>]  "
         "[<ffffffff8119d2a4>] kfree+0x13a/0x180\n",
         "-: bar!bar_ioctl!0x0@i vmlinux!do_vfs_ioctl!0x0@r\n-: vmlinux!kfree!0x0@i\n"},
        {"arm64, whose trace begins with the place of the fault; journalctl, an id of the module",
         "Apr 15 13:58:08.665119 raspberrypi kernel: Internal error: Oops: 0000000096000005 [#2] "
         "PREEMPT SMP\n"
         "Apr 15 13:58:08.732759 raspberrypi kernel: pc : __arch_copy_to_user+0xd8/0x240\n"
         "Apr 15 13:58:08.732779 raspberrypi kernel: lr : _copy_to_iter+0xf4/0x6a8\n"
         "Apr 15 13:58:08.732816 raspberrypi kernel: x29: ffffc00084d4bb60 x28: ffff800100da51b8\n"
         "Apr 15 13:58:08.732820 raspberrypi kernel: Call trace:\n"
         "Apr 15 13:58:08.732821 raspberrypi kernel:  __arch_copy_to_user+0xd8/0x240 (P)\n"
         "Apr 15 13:58:08.732822 raspberrypi kernel:  copy_page_to_iter+0xac/0x200 [veth "
         "1234abcd]\n"
         "Apr 15 13:58:08.732823 raspberrypi kernel: Code: 78402423 (38401423)\n",
         "-: vmlinux!__arch_copy_to_user!0x0@i veth!copy_page_to_iter!0x0@r\n"},
        {"arm, whose lines have a function and its caller",
         "[135992.726639] Unable to handle kernel NULL pointer dereference at virtual address 0c\n"
         "[135992.726663] pgd = 6f458410\n[135992.726682] [0000000c] *pgd=0d3e2831\n"
         "[135992.726715] Internal error: Oops: 17 [#2] ARM\n"
         "[135992.726890] PC is at seq_vprintf+0x18/0x64\n"
         "[135992.726903] LR is at seq_printf+0x3c/0x5c\n"
         "[135992.726912] pc : [<c01f3218>]    lr : [<c01f32a0>]    psr: 60000013\n"
         "[135992.726999] Backtrace: \n"
         "[135992.727001] [<c01f3200>] (seq_vprintf) from [<c01f32a0>] (seq_printf+0x3c/0x5c)\n"
         "[135992.727002] [<c01f3264>] (seq_printf) from [<c024bb0c>] (proc_pid_status+0x54/0xa8 "
         "[fuse])\n"
         "[135992.727003]  proc_single_show from seq_read+0x1c8/0x4d0\n",
         "-: vmlinux!seq_vprintf!0x0@i vmlinux!seq_printf!0x0@r fuse!proc_pid_status!0x0@r "
         "vmlinux!seq_read!0x0@r\n"},
        {"powerpc",
         "[  224.411372] Oops: Kernel access of bad area, sig: 11 [#8]\n"
         "[  223.606866] NIP [c000000000ac0ce8] dbs_update_util_handler+0x18/0xf0\n"
         "[  223.606907] LR [c000000000159748] propagate_entity_cfs_rq.isra.11+0x4a8/0x5f0\n"
         "[  223.606954] Call Trace:\n"
         "[  223.606972] [c000003fdc18bc80] [c000000000159400] "
         "propagate_entity_cfs_rq.isra.11+0x160/0x5f0 (unreliable)\n"
         "[  223.607030] [c000003fdc18bd40] [c000000000150aec] wake_up_new_task+0x13c/0x310\n"
         "[  223.607185] ebe1fff8 7d908120 4e800020 3860ffea 4bffffe0 60420000 3c4c00c3 3842a330\n",
         "-: vmlinux!dbs_update_util_handler!0x0@i vmlinux!wake_up_new_task!0x0@r\n"},
        {"KASAN with lines of the source, and what allocated",
         "[ 1502.520319][T14140] ========================================\n"
         "[1502.527398][T14140] BUG: KASAN: slab-use-after-free in f (fs/kernfs/mount.c:286) \n"
         "[ 1502.558322][T14140] Call Trace:\n[ 1502.561155][T14140]  <TASK>\n"
         "[1502.563628][T14140] dump_stack_lvl (lib/dump_stack.c:107) \n"
         "[1502.573319][T14140] ? kernfs_test_super (fs/kernfs/mount.c:286) \n"
         "[1502.586379][T14140] kasan_report (mm/kasan/report.c:590 (discriminator 2)) oops\n"
         "[1502.586380][T14140] \n[1502.586381][T14140] Allocated by task 14140:\n"
         "[1502.586382][T14140]  kasan_save_stack+0x1b/0x40\n",
         "-: !malformed@0\n-: vmlinux!dump_stack_lvl!0x0@i(lib/dump_stack.c:107) "
         "vmlinux!kasan_report!0x0@r(mm/kasan/report.c:590)\n-: vmlinux!kasan_save_stack!0x0@i\n"},
        {"no log of Linux", "Call Trace:\n do_one_initcall+0x56/0x210\nRIP: 0x12\n",
         "-: !malformed@12\n-: !malformed@40\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

/* ustack() in bpftrace's manual, atos(1), and the "C level backtrace information" of
 * Ruby, whose inlined calls have no address. */
TEST(lines_of_tracers_and_symbolizers)
{
    static const struct stack_text_row rows[] = {
        {"bpftrace",
         "        5649feec4090 readline+0 (/home/mmarchini/bash/bash/bash)\n"
         "        5649fee2bfa6 yylex+22 (/home/mmarchini/bash/bash/bash)\n",
         "-: bash!readline!0x0@i bash!yylex!0x0@r\n"},
        {"atos",
         "-[NSView f:] (in AppKit) + 24\nmain (in my app) (main.c:12)\nstd::f(int) (in a) "
         "(a.h:7)\n",
         "-: AppKit!-[NSView f:]!0x0@i my app!main!0x0@r(main.c:12) a!std::f(int)!0x0@r(a.h:7)\n"},
        {"Ruby, and an inlined call",
         "/usr/lib/libruby.so.3.1(rb_vm_bugreport+0x9) [0x7f2b7c0f3a4d] vm_dump.c:758\n"
         "/usr/lib/libruby.so.3.1(rb_bug) error.c:820\n",
         "-: libruby.so.3.1!rb_vm_bugreport!0x0@i(vm_dump.c:758) "
         "libruby.so.3.1!rb_bug!0x0@r(error.c:820)\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}
