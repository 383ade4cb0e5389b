package host

import (
	"io"
	"log/slog"
	"os"

	"termhost/ahp/journal"
)

// spills are the files into which a terminal's output is moved when its memory is needed. They are
// not for the next host, which has the journal. So they have no names, and end with this process
// at the latest.
type spills struct {
	folders journal.Folders
	log     *slog.Logger
	size    int64 // of a file, about
	file    *spillFile
}

// spillFile is one of them. Nobody closes it: the runtime does when nothing in memory leads to it
// any more (see os.NewFile), and then its bytes are gone.
type spillFile struct {
	*os.File
	log *slog.Logger
	end int64
}

// spillFileSize is how large a file of spilled output becomes, in bytes, before another one is
// begun: most of it is needed as long as a little of it is.
const spillFileSize = 8 << 20

// save appends p to a file and returns where it is.
func (s *spills) save(p []byte) (from io.ReaderAt, at int64, err error) {
	if s.file == nil || s.file.end >= s.size {
		if s.file, err = newSpillFile(s.folders, s.log); err != nil {
			return nil, 0, err
		}
	}
	f := s.file
	if _, err := f.WriteAt(p, f.end); err != nil {
		return nil, 0, err
	}
	at = f.end
	f.end += int64(len(p))
	return f, at, nil
}

func newSpillFile(folders journal.Folders, log *slog.Logger) (*spillFile, error) {
	f, err := folders.Scratch()
	if err != nil {
		return nil, err
	}
	return &spillFile{File: f, log: log}, nil
}

// ReadAt is os.File's. Its readers show that something is missing, and it is told here why.
func (f *spillFile) ReadAt(p []byte, at int64) (n int, err error) {
	if n, err = f.File.ReadAt(p, at); err != nil {
		f.log.Error("what a terminal has printed cannot be read back", "err", err)
	}
	return n, err
}
