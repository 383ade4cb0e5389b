package sshd

import (
	"bytes"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// In SSH the first of the client's ciphers that the server has, too, is taken (RFC 4253 section
// 7.1). OpenSSH's clients name chacha20-poly1305 first, which costs both ends more than twice the
// time of AES-GCM where the processor has AES instructions. So a client that knows AES-GCM is
// offered nothing else. For that its list must be seen before ours is sent. x/crypto sends ours
// with the first packet; so the beginning of the stream is read here, and given to x/crypto again.
//
// This is done for OpenSSH's clients only. They send their list as soon as they have our version;
// some others wait for our list first.

const (
	// maxIdentification bounds a version line, in bytes (RFC 4253 section 4.2).
	maxIdentification = 255
	// maxKexInit bounds the first packet, in bytes (RFC 4253 section 6.1).
	maxKexInit = 35000
	msgKexInit = 20

	// serverVersion follows "SSH-2.0-" in the server's identification (RFC 4253 section 4.2). The
	// clients of OpenSSH tell only a server of that name that their reader is gone (PROTOCOL,
	// section 2.1) and that they open no more sessions (2.2); some others know by it which of the
	// protocol's extensions are understood. What it really is is in the comment. It says nothing
	// that helps an attacker choose.
	serverVersion = "OpenSSH_9.9 termhost"
	// identification is the server's version line.
	identification = "SSH-2.0-" + serverVersion + "\r\n"
)

// preview sends our version on nc, reads the beginning of what the client sends, and chooses the
// ciphers.
// What it returns continues as if nothing had been read or sent. A beginning that is wrong is left
// for x/crypto to find.
func (c *conn) preview(nc net.Conn, deadline time.Time) (net.Conn, error) {
	if err := nc.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if _, err := nc.Write([]byte(identification)); err != nil {
		return nil, err
	}
	p := &previewed{Conn: nc, sent: []byte(identification)}
	lineEnd := func(b []byte) int { return bytes.IndexByte(b, '\n') + 1 }
	line, err := p.until(maxIdentification, lineEnd)
	if err != nil || !bytes.HasPrefix(line, []byte("SSH-2.0-OpenSSH_")) {
		return p, err
	}
	start := len(line)
	packet, err := p.until(start+maxKexInit, func(b []byte) int { return packetEnd(b, start) })
	if err != nil || packet == nil {
		return p, err
	}
	if knowsGCM(packet[start:]) {
		c.ciphers = slices.DeleteFunc(c.ciphers, func(name string) bool { return !isGCM(name) })
	}
	return p, nil
}

// packetEnd returns where the packet that begins at start ends in b; 0: it has not come whole.
func packetEnd(b []byte, start int) int {
	if len(b) < start+4 {
		return 0
	}
	n := binary.BigEndian.Uint32(b[start:])
	if n > maxKexInit || len(b)-start-4 < int(n) {
		return 0
	}
	return start + 4 + int(n)
}

// knowsGCM reports whether a packet is a KEXINIT (RFC 4253 section 7.1) that names AES-GCM in both
// directions.
func knowsGCM(packet []byte) bool {
	const header = 4 + 1 // length, padding length
	if len(packet) < header || int(packet[4]) > len(packet)-header {
		return false
	}
	var msg struct {
		Cookie          [16]byte `sshtype:"20"`
		KeyExchanges    []string
		HostKeys        []string
		CiphersIn       []string
		CiphersOut      []string
		MACsIn, MACsOut []string
		CompressIn      []string
		CompressOut     []string
		LanguagesIn     []string
		LanguagesOut    []string
		FirstKexFollows bool
		Reserved        uint32
	}
	payload := packet[header : len(packet)-int(packet[4])]
	if len(payload) == 0 || payload[0] != msgKexInit || gossh.Unmarshal(payload, &msg) != nil {
		return false
	}
	return slices.ContainsFunc(msg.CiphersIn, isGCM) && slices.ContainsFunc(msg.CiphersOut, isGCM)
}

func isGCM(cipher string) bool { return strings.HasSuffix(cipher, "-gcm@openssh.com") }

// previewed is a connection whose beginning has been read, and whose version line has been sent.
type previewed struct {
	net.Conn
	read []byte // to be read again
	sent []byte // not to be sent again
}

// until reads until end finds the end of something in what has been read, and returns that; nil if
// there is none within most bytes.
func (p *previewed) until(most int, end func([]byte) int) ([]byte, error) {
	const chunk = 2 << 10 // a client's version and KEXINIT are about that long
	for {
		if n := end(p.read); n > 0 {
			return p.read[:n], nil
		}
		if len(p.read) >= most {
			return nil, nil
		}
		p.read = slices.Grow(p.read, chunk)
		n, err := p.Conn.Read(p.read[len(p.read):min(cap(p.read), most)])
		p.read = p.read[:len(p.read)+n]
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

// Read begins with what has been read.
func (p *previewed) Read(b []byte) (int, error) {
	if len(p.read) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.read)
	if p.read = p.read[n:]; len(p.read) == 0 {
		p.read = nil
	}
	return n, nil
}

// Write leaves out what has been sent.
func (p *previewed) Write(b []byte) (int, error) {
	skip := 0
	for skip < len(b) && skip < len(p.sent) && b[skip] == p.sent[skip] {
		skip++
	}
	p.sent = p.sent[skip:]
	if skip == len(b) {
		return skip, nil
	}
	n, err := p.Conn.Write(b[skip:])
	return n + skip, err
}
