package catalog

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"mpitx/text"
)

// Private is names to hide in addition to those that the catalog contains.
type Private struct {
	Hosts []string
	Users []string
}

// LocalPrivate returns the names of this machine and this user.
func LocalPrivate() Private {
	var p Private
	if h, err := os.Hostname(); err == nil {
		p.Hosts = append(p.Hosts, h)
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		p.Users = append(p.Users, os.Getenv(name))
	}
	return p
}

// Redact removes host names, user names, addresses and paths from a catalog, in place (docs/schema.md). Hosts become host0,
// host1 and so on, in rank order, wherever they appear; users likewise. Absolute paths become <path>, addresses <ip>, <mac> and
// <address>. All of them are replaced in values, reasons and errors. Descriptions, which are compiled into the library, keep
// common words and system directories. Names of variables, categories and items are not changed.
func Redact(c *Catalog, known ...Private) {
	r := &redactor{words: map[string]string{}}
	for i := range c.Job.Ranks {
		r.host(c.Job.Ranks[i].Host)
	}
	for _, p := range known {
		for _, h := range p.Hosts {
			r.host(h)
		}
		for _, u := range p.Users {
			r.user(u)
		}
	}
	r.user(c.Job.User)
	c.Job.Home, c.Job.User, c.Job.Tmp = "", "", ""
	c.eachText(func(s *string, _ textKind) { r.findUsers(*s) })
	for i := range c.Job.Ranks {
		k := &c.Job.Ranks[i]
		if name, ok := r.words[text.Lower(k.Host)]; ok {
			k.Host = name
		}
	}
	c.eachText(func(s *string, kind textKind) { *s = r.text(*s, kind) })
}

type redactor struct {
	words        map[string]string // host and user names in lower case, and their replacements
	hosts, users int
}

// commonNames identify nobody, and mean something else in an MPI library's texts.
var commonNames = map[string]bool{"localhost": true, "root": true, "user": true, "users": true, "guest": true, "admin": true,
	"nobody": true, "test": true, "mpi": true, "mpirun": true, "openmpi": true, "mpich": true, "home": true, "local": true,
	"shared": true, "software": true, "apps": true, "opt": true, "tmp": true, "node": true, "host": true, "auto": true,
	"none": true, "all": true, "core": true, "self": true, "tcp": true, "world": true}

func (r *redactor) host(name string) {
	name = text.Lower(name)
	if name == "" || name == "localhost" || strings.HasPrefix(name, "localhost.") || r.words[name] != "" {
		return
	}
	r.words[name] = fmt.Sprintf("host%d", r.hosts)
	r.hosts++
	if _, err := netip.ParseAddr(name); err == nil {
		return
	}
	if short, _, ok := strings.Cut(name, "."); ok && len(short) > 1 && !commonNames[short] && r.words[short] == "" {
		r.words[short] = r.words[name]
	}
}

func (r *redactor) user(name string) {
	name = text.Lower(name)
	if len(name) < 2 || commonNames[name] || strings.Trim(name, "0123456789") == "" || r.words[name] != "" {
		return
	}
	r.words[name] = fmt.Sprintf("user%d", r.users)
	r.users++
}

// lazily compiles an expression at its first use, as most commands redact nothing.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var homePath = lazily(`(?:^|[^\w./-]|-[A-Z]|://)(?:/var)?/(?:home|Users)/([\w.-]+)/|(?:^|[^\w./~-]|-[A-Z])~([\w.-]+)/`)

// findUsers collects user names from home directories.
func (r *redactor) findUsers(s string) {
	if !strings.Contains(s, "/") {
		return
	}
	for _, m := range homePath().FindAllStringSubmatch(s, -1) {
		r.user(m[1] + m[2])
	}
}

// textKind is how strictly a text is redacted.
type textKind int

const (
	dataText  textKind = iota // a value, a reason, an error: everything that looks private is replaced
	proseText                 // a description: ordinary words stay
	fileText                  // the path of the library: the last element stays
)

// eachText visits all texts that can be private, apart from the ranks' hosts.
func (c *Catalog) eachText(visit func(*string, textKind)) {
	library := func(l *Library) {
		visit(&l.Text, proseText)
		visit(&l.Path, fileText)
	}
	library(&c.Library)
	visit(&c.Job.Launcher, dataText)
	for i := range c.Outside {
		c.Outside[i].eachText(visit)
	}
	visit(&c.Before.Error, dataText)
	visit(&c.After.Error, dataText)
	for _, s := range []*Stage{&c.Before, &c.After} {
		for i := range s.Environment {
			visit(&s.Environment[i], dataText)
		}
	}
	for i := range c.Job.Ranks {
		visit(&c.Job.Ranks[i].Error, dataText)
		if l := c.Job.Ranks[i].Library; l != nil {
			library(l)
		}
	}
	for _, e := range c.Entries(AllKinds &^ agentKinds) {
		e.eachText(visit)
		conflicts := *e.conflicts()
		for i := range conflicts {
			kind := dataText
			if conflicts[i].Field == "description" {
				kind = proseText
			}
			visit(&conflicts[i].Here, kind)
			visit(&conflicts[i].Root, kind)
		}
	}
}

func (k *Category) eachText(visit func(*string, textKind)) { visit(&k.Description, proseText) }

func (e *Enum) eachText(func(*string, textKind)) {} // items' names stay

func (v *Variable) eachText(visit func(*string, textKind)) {
	visit(&v.Description, proseText)
	reading := func(g *Reading) {
		visit(&g.Reason, dataText)
		g.Value.visitText(visit)
	}
	for _, g := range []*Reading{v.Before, v.After} {
		if g != nil {
			reading(g)
		}
	}
	for _, ranks := range [][]RankReading{v.Ranks, v.Nodes} {
		for i := range ranks {
			reading(&ranks[i].Reading)
		}
	}
	origin := func(o *Origin) {
		if o != nil {
			visit(&o.Where, dataText)
			visit(&o.Value, dataText)
		}
	}
	origin(v.Origin)
	for i := range v.Origins {
		origin(v.Origins[i].Origin)
	}
}

// visitText visits the text of a value. Bytes that contain private text are zeroed.
func (v *Value) visitText(visit func(*string, textKind)) {
	switch {
	case v.typ.Form() == FormText:
		visit(&v.raw, dataText)
	case v.typ.Size() <= 1 && len(v.raw) > 3:
		s := v.raw
		if visit(&s, dataText); s != v.raw {
			v.raw = string(make([]byte, len(v.raw)))
		}
	}
}

func (r *redactor) text(s string, kind textKind) string {
	if s == "" {
		return s
	}
	if kind == fileText {
		return "<path>/" + r.replaceWords(path.Base(s), dataText)
	}
	if strings.ContainsAny(s, `/\`) {
		if kind == dataText {
			s = uri().ReplaceAllString(s, "${1}://<address>")
		}
		s = replacePaths(s, kind)
	}
	if strings.Contains(s, "@") {
		s = account().ReplaceAllString(s, "<user>@<host>")
	}
	if kind == dataText && strings.ContainsAny(s, ".:") {
		s = replaceAddresses(s)
	}
	return r.replaceWords(s, kind)
}

var (
	uri     = lazily(`\b([A-Za-z][A-Za-z0-9+.-]*)://[^\s"'<>;|]+`)
	account = lazily(`[A-Za-z0-9._-]+@[A-Za-z][A-Za-z0-9.-]*`)

	// An absolute path starts where no word, URI or relative path continues, or after an option such as -I/usr/include. It
	// includes blanks if another / follows.
	pathStart = `(^|[^\w./~*?%+$}<>-]|(?:^|[\s"'=,;(])-[A-Z])`
	pathEnd   = `[^\s"',:;|)\]}<>]`
	dataPath  = lazily(pathStart + `(?:~[\w.-]*/|/+|[A-Za-z]:\\)[^\s"',:;|)\]}<>/]` + pathEnd + `*(?: +[^\s"',:;|()\[\]{}<>/=-]+/` + pathEnd + `*)*`)
	prosePath = lazily(pathStart + `/[\w.~+-]+(?:/[\w.~+-]+)+`)

	systemPath = lazily(`^/(?:dev|proc|sys|etc|usr|tmp|var|run|bin|sbin|lib|lib64)(?:/|$)`)
)

func replacePaths(s string, kind textKind) string {
	if kind == dataText {
		return dataPath().ReplaceAllString(s, "${1}<path>")
	}
	return prosePath().ReplaceAllStringFunc(s, func(m string) string {
		i := strings.IndexByte(m, '/')
		if systemPath().MatchString(m[i:]) {
			return m
		}
		return m[:i] + "<path>"
	})
}

var (
	ipv4 = lazily(`[A-Za-z0-9.]*\d+\.\d+\.\d+\.\d+[A-Za-z0-9.]*`)
	ipv6 = lazily(`[\w:]*:[\w:]*:[\w:]*(?:[\w:.]*\w)?(?:%\w+)?`)
)

// publicAddresses identify nobody.
var publicAddresses = map[string]bool{"0.0.0.0": true, "255.255.255.255": true, "10.0.0.0": true, "172.16.0.0": true,
	"192.168.0.0": true, "169.254.0.0": true, "100.64.0.0": true, "224.0.0.0": true, "::": true, "::1": true}

func replaceAddresses(s string) string {
	s = ipv6().ReplaceAllStringFunc(s, func(m string) string {
		if _, err := net.ParseMAC(m); err == nil {
			return "<mac>"
		}
		if !strings.Contains(m, "::") && !strings.ContainsAny(m, "abcdefABCDEF") {
			return m // more likely a list of numbers
		}
		for i := 0; i >= 0 && i < len(m); { // after a prefix as in tcp6:fe80::1
			if to := replaceAddress(m[i:]); to != m[i:] {
				return m[:i] + to
			}
			next := strings.IndexByte(m[i:], ':')
			if next < 0 {
				break
			}
			i += next + 1
		}
		return m
	})
	return ipv4().ReplaceAllStringFunc(s, func(m string) string {
		bare := strings.TrimRight(m, ".")
		return replaceAddress(bare) + m[len(bare):]
	})
}

func replaceAddress(s string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || publicAddresses[s] || a.IsLoopback() {
		return s
	}
	return "<ip>"
}

// replaceWords replaces every known name that is not part of a longer word.
func (r *redactor) replaceWords(s string, kind textKind) string {
	if len(r.words) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !alphanumeric(s, i) || alphanumeric(s, i-1) {
			i++
			continue
		}
		end, with := r.longest(s, i, kind)
		if end == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(with)
		i, done = end, end
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// longest finds the longest known name at i.
func (r *redactor) longest(s string, i int, kind textKind) (end int, with string) {
	const most = 255 // bytes of a host name
	for j := i + 1; j <= len(s) && j-i <= most; j++ {
		if alphanumeric(s, j) {
			continue
		}
		if alphanumeric(s, j-1) {
			word := text.Lower(s[i:j])
			if to := r.words[word]; to != "" && !commonNames[word] && (kind == dataText || distinctive(word)) {
				end, with = j, to
			}
		}
		if j == len(s) || strings.IndexByte("-._", s[j]) < 0 {
			break
		}
	}
	return end, with
}

// distinctive reports whether a word is unlikely to be an English word.
func distinctive(word string) bool { return strings.ContainsAny(word, "0123456789-._") }

func alphanumeric(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
