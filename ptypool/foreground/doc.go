// Package foreground finds out from /proc whether the programs in the foreground of a terminal wait
// for somebody to type (Linux).
//
// # What counts as waiting
//
// A program waits if one of its threads sleeps in a read of the terminal, or in a poll that
// includes the terminal, which proc(5) tells: the system call with its arguments, the events of an
// epoll instance, the files of the descriptors. How much more is asked for depends on who edits
// the line that is being typed, as termios(3) has it:
//
//   - The kernel does (ICANON): the program asked for a line. A read of it counts; a poll, with
//     which programs wait for other things as well, counts if a question stands on the screen. With
//     echo off it is a secret if there is a question, as getpass(3), readpassphrase(3) and sudo
//     ask one, or if a shell reads that knows read -s. Otherwise it is not: scripts turn the echo
//     off to keep their input from the screen (stty -echo; exec cat).
//   - The program does, with echo off: all programs with a line editor, such as node's readline,
//     and those that show a screen. A read counts if there is text before the cursor, a poll if
//     that text is a question. It is a secret if the text says so, for nothing else does.
//   - The program reads single characters, which are echoed: as the kernel's.
//
// A question is text before the cursor that ends in a colon, a question mark or a bracket.
//
// # What does not count
//
//   - A shell's own prompt, of whatever shell, in whatever depth. A shell is known by its name, and
//     as an interactive one by its arguments. It uses a line editor at its prompt, so a shell that
//     reads a line from the kernel is running a read builtin, which counts; of shells without a
//     line editor the text tells: a read builtin has a question or nothing before the cursor. If
//     shell integration says that the shell runs a command, it is not at its prompt either.
//   - The prompt of an interpreter with a line editor (python's >>>, node's >, mysql>, (gdb)): it
//     waits for a command, as a shell does. One without a line editor is like cat.
//   - A program in a pipeline that has asked nothing (cat | wc): it is waiting for data. But cat by
//     itself does count: it reads from the terminal, and nothing goes on before somebody types.
//   - Full-screen programs and pagers: they are there to be used, and ask nothing.
//
// # What is not known
//
// Reading another process's system call needs the rights of a debugger (ptrace(2)). Where Yama
// denies them, the name of the kernel function in which a process sleeps (/proc/PID/wchan) has to
// do, which does not name the descriptor. Of another user's processes, such as sudo while this
// process is not root, not even that can be read. Then the line's settings and the text on the
// screen decide alone.
package foreground
