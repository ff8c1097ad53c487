package sites

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"mpitx/recording/profile"
)

// File is the file in a run directory that keeps the source of its call sites, for when the program has been built again.
const File = "sites.json"

const mostBytes = 1 << 28

type document struct {
	Schema  string          `json:"schema"`
	Version int             `json:"version"`
	Sum     *uint32         `json:"crc32c,omitempty"` // of Places; nil: an older mpitx wrote it
	Places  json.RawMessage `json:"places"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type place struct {
	Module  string  `json:"module"`
	BuildID string  `json:"build_id"`
	Offset  uint64  `json:"offset"`
	Frames  []frame `json:"frames"`
}

type frame struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitzero"`
	Inlined  bool   `json:"inlined,omitzero"`
}

// Keep writes the file for a resolved profile. Places without a known source are not in it. It replaces the file in one
// step; an error is one of the file system.
func Keep(p *profile.Profile) error {
	places := []place{}
	at := map[profile.Address]bool{}
	for _, s := range p.Sites {
		for i := 0; i < len(s.Frames); {
			address, first := s.Frames[i].Address, i
			for i++; i < len(s.Frames) && s.Frames[i-1].Inlined; {
				i++
			}
			if at[address] || s.Frames[first].Function == "" && s.Frames[first].File == "" {
				continue
			}
			at[address] = true
			found := place{address.Path, address.BuildID, address.Offset, nil}
			for _, f := range s.Frames[first:i] {
				found.Frames = append(found.Frames, frame{f.Function, f.File, f.Line, f.Inlined})
			}
			places = append(places, found)
		}
	}
	list, err := json.Marshal(places)
	if err != nil {
		return err
	}
	sum := crc32.Checksum(list, castagnoli)
	text, err := json.Marshal(document{Schema: "mpitx.sites", Version: 1, Sum: &sum, Places: list})
	if err != nil {
		return err
	}
	path := filepath.Join(p.Run.Dir, File)
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o600); err != nil {
		os.Remove(path + ".part")
		return err
	}
	return os.Rename(path+".part", path)
}

// Unreadable is the error of a file that is there, but cannot be read.
type Unreadable struct {
	File string // its name in the run directory
	Err  error
}

func (u *Unreadable) Error() string {
	err := u.Err
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return u.File + " cannot be read: " + err.Error()
}

// kept reads the file of a run, by the code of each place; nothing if there is none.
func kept(dir string) (map[profile.Address][]profile.Frame, error) {
	path := filepath.Join(dir, File)
	st, err := os.Stat(path)
	var text []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
	case !st.Mode().IsRegular():
		err = errors.New("it is not a file")
	case st.Size() > mostBytes:
		err = errors.New("it is too large")
	default:
		text, err = os.ReadFile(path)
	}
	var d document
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err == nil && d.Version != 1 {
		err = errors.New("another version of mpitx wrote it")
	}
	if err == nil && d.Sum != nil && *d.Sum != crc32.Checksum(d.Places, castagnoli) {
		err = errors.New("its checksum is wrong")
	}
	var places []place
	if err == nil {
		err = json.Unmarshal(d.Places, &places)
	}
	if err != nil {
		return nil, &Unreadable{File, err}
	}
	known := map[profile.Address][]profile.Frame{}
	for _, x := range places {
		var frames []profile.Frame
		for _, f := range x.Frames {
			frames = append(frames, profile.Frame{Function: f.Function, File: f.File, Line: f.Line, Inlined: f.Inlined})
		}
		known[profile.Address{Path: x.Module, BuildID: x.BuildID, Offset: x.Offset}.Code()] = frames
	}
	return known, nil
}
