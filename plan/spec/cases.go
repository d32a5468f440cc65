package spec

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/projection/expr"
)

// Case is one test case: a plan with one row of its data.
type Case struct {
	// ID is the same in every run: the plan's path, and the row.
	ID   string
	Name string
	Tags []string
	Plan *Plan
	// Setup and Teardown are the plans around it.
	Setup, Teardown []*Plan
	Scope           Scope
	Number          int // of the row, from 1; 0 for a plan without data
	// Combination is the one of the plan's matrix, nil for a plan without.
	Combination *Combination
}

// Source reads plans and makes cases of them.
type Source struct {
	Engine expr.Engine
	// Vars come before those of plans.
	Vars map[string]any
	// Secrets are names that plans may use without declaring them.
	Secrets []string
	// Env looks up variables of the environment; nil is the process's own.
	Env func(string) (string, bool)
	// Root is the folder that has every file which a plan may name; "" is no bound. A
	// plan that somebody else sent needs one.
	Root string
	// Combination is the one that becomes a case, in place of the plan's matrix; nil is all
	// that the matrix has.
	Combination *Combination
	// Row is the one row that becomes a case, in place of the plan's data; nil is all
	// that the data have.
	Row *Row
}

// Row is a row of a plan's data without its table.
type Row struct {
	Number int // from 1
	Values json.RawMessage
}

// Cases reads a plan with those that it names, and returns its test cases.
func (s Source) Cases(path string) ([]*Case, error) {
	p, err := Read(path, s.Engine)
	if err == nil {
		err = s.bounded(p)
	}
	if err != nil {
		return nil, err
	}
	base := Case{ID: filepath.ToSlash(p.path), Name: p.Name, Tags: slices.Clone(p.Tags), Plan: p}
	base.Setup, err = s.around(p, p.Setup, "/setup")
	if err != nil {
		return nil, err
	}
	base.Teardown, err = s.around(p, p.Teardown, "/teardown")
	if err != nil {
		return nil, err
	}
	rows, err := s.rows(p)
	if err != nil {
		return nil, err
	}
	vars := base.vars()
	maps.Copy(vars, s.Vars)
	base.Scope = Scope{Vars: vars, Env: s.Env}
	if err := base.expandVars(); err != nil {
		return nil, err
	}
	var cases []*Case
	if rows == nil {
		cases = []*Case{&base}
	}
	for i, row := range rows {
		c := base
		c.Number = i + 1
		if s.Row != nil {
			c.Number = s.Row.Number
		}
		c.Scope.Row = row
		label := rowName(row)
		c.Name = fmt.Sprintf("%s [%d%s]", p.Name, c.Number, label)
		c.ID = fmt.Sprintf("%s#%d", base.ID, c.Number)
		c.Tags = append(slices.Clone(p.Tags), rowTags(row)...)
		cases = append(cases, &c)
	}
	for _, c := range cases {
		if err := s.check(c); err != nil {
			return nil, err
		}
	}
	if err := s.quarantined(p, cases); err != nil {
		return nil, err
	}
	return s.combined(p, cases)
}

// around reads the plans that a plan names.
func (s Source) around(p *Plan, paths []string, at string) ([]*Plan, error) {
	var out []*Plan
	for i, path := range paths {
		place := p.places.at(at + "/" + strconv.Itoa(i))
		if filepath.Clean(path) == filepath.Clean(p.path) {
			return nil, Problems{{place, errCycle.Error()}}
		}
		other, err := Read(path, s.Engine)
		if err == nil {
			err = s.bounded(other)
		}
		if os.IsNotExist(err) || isNotExist(err) {
			return nil, Problems{{place, fmt.Sprintf("there is no plan %s", path)}}
		}
		if err != nil {
			return nil, err
		}
		if other.Data != nil || len(other.Setup) > 0 || len(other.Teardown) > 0 {
			return nil, Problems{{place, "a plan for setup or teardown has no data, setup and teardown of its own"}}
		}
		if other.Matrix != nil || other.Clock != nil {
			return nil, Problems{{place, "a plan for setup or teardown has no matrix and no clock of its own"}}
		}
		out = append(out, other)
	}
	return out, nil
}

// All are the plans of the case in the order in which they run.
func (c *Case) All() []*Plan {
	return slices.Concat(c.Setup, []*Plan{c.Plan}, c.Teardown)
}

// vars are the variables of the plans; the plan itself comes before those around it.
func (c *Case) vars() map[string]any {
	out := map[string]any{}
	for _, p := range slices.Concat(c.Teardown, c.Setup, []*Plan{c.Plan}) {
		maps.Copy(out, p.Vars)
	}
	return out
}

// expandVars replaces references to the environment in variables.
func (c *Case) expandVars() error {
	only := Scope{Env: c.Scope.Env, Vars: map[string]any{}}
	out := make(map[string]any, len(c.Scope.Vars))
	for _, name := range slices.Sorted(maps.Keys(c.Scope.Vars)) {
		v, err := only.Expand(c.Scope.Vars[name])
		if err != nil {
			at := Place{File: c.Plan.path}
			for _, p := range c.All() {
				if _, ok := p.Vars[name]; ok {
					at = p.places.at("/vars/" + escapePointer(name))
				}
			}
			return Problems{{at, err.Error() + " (a variable may name the environment, not other variables)"}}
		}
		out[name] = v
	}
	c.Scope.Vars = out
	return nil
}

// Maps are the maps of all plans of the case.
func (c *Case) Maps() []string {
	var out []string
	for _, p := range c.All() {
		for _, m := range p.Maps {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Below reports whether a path leads to something in a folder, by its words alone.
func Below(folder, path string) bool {
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}

// bounded refuses a plan that names files outside of Root.
func (s Source) bounded(p *Plan) error {
	if s.Root == "" {
		return nil
	}
	var problems Problems
	check := func(at, path string) {
		if path != "" && !Below(s.Root, path) {
			problems = append(problems, Problem{p.places.at(at), path + " is none of the plan's own files"})
		}
	}
	for member, paths := range map[string][]string{"/setup": p.Setup, "/teardown": p.Teardown} {
		for i, path := range paths {
			check(member+"/"+strconv.Itoa(i), path)
		}
	}
	check("/storage_state", p.StorageState)
	for name, session := range p.Sessions {
		check("/sessions/"+escapePointer(name)+"/storage_state", session.StorageState)
	}
	if p.Data != nil && s.Row == nil {
		check("/data", p.Data.File)
	}
	return problems.sorted()
}

// Files are those of the case's plans.
func (c *Case) Files() []string {
	var out []string
	for _, p := range c.All() {
		if !slices.Contains(out, p.path) {
			out = append(out, p.path)
		}
	}
	return out
}

// States are the files of storage state that the sessions of the case begin with. A
// name that only a step gives is an error.
func (c *Case) States() ([]string, error) {
	var out []string
	for _, p := range c.All() {
		named := map[string]string{"/storage_state": p.StorageState}
		for name, session := range p.Sessions {
			named["/sessions/"+escapePointer(name)+"/storage_state"] = session.StorageState
		}
		for _, at := range slices.Sorted(maps.Keys(named)) {
			path, err := c.Scope.Text(named[at])
			if err != nil {
				return nil, Problems{{p.places.at(at), err.Error()}}
			}
			if path != "" && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out, nil
}

// Data are the files of rows that the case's plans name.
func (c *Case) Data() (out []string) {
	for _, p := range c.All() {
		if p.Data != nil && p.Data.File != "" {
			out = append(out, p.Data.File)
		}
	}
	return out
}

// Routed are the files that routes of the case answer with. Those that only a step names
// are not among them.
func (c *Case) Routed() (out []string) {
	for _, p := range c.All() {
		for _, r := range p.Routes() {
			scope := Scope{Vars: c.Scope.Vars, Row: c.Scope.Row, Env: c.Scope.Env}
			if r.Expand(&scope) != nil {
				continue
			}
			for _, path := range (Routes{r}).files() {
				if !slices.Contains(out, path) && !strings.Contains(path, "${") {
					out = append(out, path)
				}
			}
		}
	}
	return out
}

// Secrets are the names of the secrets that the plans of the case declare, with the
// origins where each may be used.
func (c *Case) Secrets() map[string][]string {
	out := map[string][]string{}
	for _, p := range c.All() {
		for name, secret := range p.Secrets {
			if _, ok := out[name]; !ok {
				out[name] = secret.Origins
			}
		}
	}
	return out
}

// Absolute is a file that the plans of the case name by its place on this machine; ""
// when there is none. Their data are not looked at.
func (c *Case) Absolute() string {
	for _, p := range c.All() {
		if p.absolute != "" {
			return p.absolute
		}
	}
	return ""
}

// References are the secrets that the plans of the case declare, with the path of the
// plan that does.
func (c *Case) References(each func(name, path string, r mask.Reference) error) error {
	for _, p := range c.All() {
		for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
			if err := each(name, p.path, p.Secrets[name].Reference()); err != nil {
				return Problems{{p.places.at("/secrets/" + escapePointer(name)), err.Error()}}
			}
		}
	}
	return nil
}

// Limits of data.
const (
	maxRows  = 100_000
	maxTable = 64 << 20
)

// rows are the data of a plan, nil for a plan without.
func (s Source) rows(p *Plan) ([]map[string]any, error) {
	if p.Data == nil {
		return nil, nil
	}
	at := p.places.at("/data")
	if s.Row != nil {
		var row map[string]any
		if err := decode(s.Row.Values, &row); err != nil {
			return nil, Problems{{at, "the row: " + err.Error()}}
		}
		return []map[string]any{row}, nil
	}
	rows := p.Data.Rows
	if p.Data.File != "" {
		var err error
		rows, err = readRows(p.Data.File)
		if err != nil {
			return nil, Problems{{at, err.Error()}}
		}
	}
	switch {
	case len(rows) == 0:
		return nil, Problems{{at, "there are no rows"}}
	case len(rows) > maxRows:
		return nil, Problems{{at, fmt.Sprintf("there are %d rows: expected at most %d", len(rows), maxRows)}}
	}
	return rows, nil
}

func readRows(path string) ([]map[string]any, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTable+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxTable:
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxTable)
	}
	if line := notUTF8(text); line > 0 {
		return nil, fmt.Errorf("%s:%d: the text is not UTF-8: save the file as UTF-8", path, line)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return readCSV(path, bytes.NewReader(text))
	case ".json":
		return readJSONRows(path, text)
	}
	return nil, fmt.Errorf("%s: expected a file .csv or .json", path)
}

// readJSONRows reads a list of objects.
func readJSONRows(path string, text []byte) ([]map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var rows []map[string]any
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("%s: expected a list of objects: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: expected one list of objects, found more after it", path)
	}
	keepRows(rows)
	return rows, nil
}

// readCSV reads a table whose first line has the names of the columns.
func readCSV(path string, in io.Reader) ([]map[string]any, error) {
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: expected a line with the names of the columns", path)
	}
	names := all[0]
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" || slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("%s:1: the column %d has no name of its own", path, i+1)
		}
	}
	rows := make([]map[string]any, 0, len(all)-1)
	for _, line := range all[1:] {
		row := make(map[string]any, len(names))
		for i, name := range names {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// rowName is what tells a row from others: its member name, or its first values.
func rowName(row map[string]any) string {
	if name, ok := row["name"]; ok {
		return ": " + short(fmt.Sprint(name))
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(row)) {
		switch v := row[k].(type) {
		case string, json.Number, bool, float64:
			parts = append(parts, k+"="+fmt.Sprint(v))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + short(strings.Join(parts, ", "))
}

func short(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return s
}

// rowTags are the words of a row's member tags.
func rowTags(row map[string]any) []string {
	switch v := row["tags"].(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, one := range v {
			out = append(out, fmt.Sprint(one))
		}
		return out
	}
	return nil
}
