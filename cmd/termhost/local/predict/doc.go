// Package predict shows what a person types before the host has echoed it, on a connection whose
// round trips take so long that they notice: as mosh does (Winstein and Balakrishnan, "Mosh: An
// Interactive Remote Shell for Mobile Clients", USENIX ATC 2012, section 3).
//
// A [Predictor] sees all that a person types and all that their terminal is sent, from which it
// keeps the screen, and says what the terminal is sent besides. A character that is typed where the
// row goes on blank is expected in the cursor's cell, the next one behind it, and backspace removes
// one again; nothing else is predicted. Such characters are drawn underlined, until the program
// shows them itself. One that does not come, or comes elsewhere, is taken away as soon as the host
// has said that the program was given it, and a moment has passed.
//
// # What is never shown
//
// Programs that do not echo are told from others by what they do. Each place in which the person
// begins to type is a run: a new one begins with every key that is not predicted (Enter, Escape,
// Tab, arrows), with a prediction that was wrong, and wherever the cursor is not where the last
// prediction has left it. Of a run, nothing is drawn before one of its characters was echoed. So a
// password is not shown, whatever the host knows of it; and where the host says that input is
// hidden, there is no prediction at all.
//
// Nor is one where it could be drawn wrongly: in the last column, over or close before other text,
// of characters that take no cell or two, of what is pasted, and while the screen is not known: at
// first, and from a change of the window until the host has drawn it again.
//
// While nothing is drawn, the output passes unchanged. The package does no I/O and has no clock.
package predict
