// Package picture knows the pictures that programs draw in terminals: sixel (DEC STD 070; VT330/
// VT340 manual, chapter 14), kitty's graphics protocol and iTerm2's inline images. It tells their
// sizes, and makes of each what a browser draws.
//
// What it reads comes from programs. It bounds sizes before it takes memory for them, and what it
// makes has the sizes that it has told. It does no I/O.
package picture
