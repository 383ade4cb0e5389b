// Package notify tells people who are away that a terminal wants them: by a command, a webhook,
// ntfy or Gotify.
//
// A Notifier asks the host what people have not seen. What is still so after a target's time is
// sent, once; beyond [perHour] in an hour it is summed up in one message when the next may go out,
// and so is what has come up during quiet hours. Each target has a goroutine of its own, so that
// one that hangs delays nobody else. By default a message has nothing that a program has printed.
package notify
