package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tiktoken-go/tokenizer"
)

const verbsPage = "../../docs/reference/verbs.md"

// TestVerbsPageIsCurrent holds docs/reference/verbs.md to the commands.
func TestVerbsPageIsCurrent(t *testing.T) {
	want := verbsMarkdown()
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(verbsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(verbsPage)
	if err != nil || string(got) != want {
		t.Errorf("docs/reference/verbs.md is stale: run make generate (%v)", err)
	}
}

func commandTree() *cobra.Command {
	a := &app{stdin: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
	root := a.root(nil)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// verbsMarkdown writes one section for each verb. Flags that many verbs have in
// common are in sections of their own, named once.
func verbsMarkdown() string {
	root := commandTree()
	var b strings.Builder
	b.WriteString("<!-- Generated from cmd/outrider by make generate. Do not edit. -->\n\n# Verbs and flags\n\n")
	fill(&b, "", "What the verbs print, their exit codes and what goes together: [command line](cli.md). "+
		"How flags are set by the environment and by files: [configuration](configuration.md).")

	b.WriteString("\n## Flags of every verb\n\n")
	flags(&b, root.PersistentFlags())

	browser := &cobra.Command{}
	(&app{}).addBrowserFlags(browser)
	b.WriteString("\n## Flags of the browser\n\n")
	fill(&b, "", "Every verb that owns a browser has them.")
	b.WriteString("\n")
	flags(&b, browser.Flags())

	for _, c := range shown(root) {
		verb(&b, c, "##", browser.Flags())
	}
	return b.String()
}

func shown(c *cobra.Command) (all []*cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Parent().Name() != "completion" {
			all = append(all, sub)
		}
	}
	return all
}

func verb(b *strings.Builder, c *cobra.Command, level string, browser *pflag.FlagSet) {
	b.WriteString("\n" + level + " " + c.CommandPath() + "\n\n")
	fill(b, "", c.Short+".")
	b.WriteString("\n```text\n" + c.UseLine() + "\n```\n")
	if c.Long != "" && c.Name() != "completion" {
		b.WriteString("\n")
		fill(b, "", escape(c.Long))
	}
	if c.Example != "" {
		b.WriteString("\n```sh\n")
		for line := range strings.Lines(c.Example) {
			b.WriteString(brokenUp(strings.TrimPrefix(strings.TrimRight(line, "\n"), "  ")))
		}
		b.WriteString("```\n")
	}
	own, owns := &pflag.FlagSet{}, c.Flags().Lookup("user-data-dir") != nil
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden && !(owns && browser.Lookup(f.Name) != nil) {
			own.AddFlag(f)
		}
	})
	if own.HasFlags() {
		b.WriteString("\n")
		flags(b, own)
	}
	if owns {
		b.WriteString("\n")
		fill(b, "", "It also has the [flags of the browser](#flags-of-the-browser).")
	}
	for _, sub := range shown(c) {
		verb(b, sub, level+"#", browser)
	}
}

func flags(b *strings.Builder, set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		value, text := pflag.UnquoteUsage(f)
		entry := "`--" + f.Name
		if value != "" {
			entry += " " + value
		}
		entry += "`: " + escape(text)
		zero := slices.Contains([]string{"", "false", "[]", "0s", "0"}, f.DefValue)
		if !zero && !strings.Contains(text, "default") {
			entry += " (default `" + f.DefValue + "`)"
		}
		fill(b, "- ", entry)
	})
}

// escape keeps a text from being read as Markdown.
func escape(s string) string {
	return strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(s)
}

// fill writes words on lines of at most 120 characters; a line that follows is
// indented as the first is.
func fill(b *strings.Builder, lead, text string) {
	line := strings.TrimRight(lead, " ")
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 120 {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", max(len(lead)-1, 0))
		}
		if line != "" || lead != "" {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}

// brokenUp continues a long command on the next line, as a shell reads it.
func brokenUp(line string) string {
	var b strings.Builder
	for utf8.RuneCountInString(line) > 120 {
		i := strings.LastIndex(line[:117], " --")
		if i <= 0 {
			break
		}
		b.WriteString(line[:i] + " \\\n")
		line = " " + line[i:]
	}
	return b.String() + line + "\n"
}

var (
	fence      = regexp.MustCompile("(?ms)^```(sh[^\n]*)\n(.*?)^```")
	invocation = regexp.MustCompile(`(?m)(?:^|[|;&] *|-- |\$\()(?:[A-Z_]+=\S+ )*outrider ([a-z]+)([^\n|&;#]*)`)
	longFlag   = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
)

// TestPagesNameWhatExists: each command in a block of a page has a verb and
// flags that the program has, also where the block is not run.
func TestPagesNameWhatExists(t *testing.T) {
	root := commandTree()
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../../README.md")
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			block := strings.ReplaceAll(m[2], "\\\n", " ")
			for _, call := range invocation.FindAllStringSubmatch(block, -1) {
				seen++
				args, _, _ := strings.Cut(call[2], " -- ")
				c, _, err := root.Find(append([]string{call[1]}, strings.Fields(args)...))
				if err != nil || c == root {
					t.Errorf("%s: %q: there is no verb %q", page, call[0], call[1])
					continue
				}
				for _, f := range longFlag.FindAllStringSubmatch(args, -1) {
					if c.Flag(f[1]) == nil && c.InheritedFlags().Lookup(f[1]) == nil {
						t.Errorf("%s: %q: %s has no flag --%s", page, call[0], c.CommandPath(), f[1])
					}
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("found only %d commands in %d pages", seen, len(pages))
	}
}

// TestContractNamesEveryVerb: the page that is a contract describes what each verb
// prints, and configuration lists what a project file may set.
func TestContractNamesEveryVerb(t *testing.T) {
	cli, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(cli), "## What verbs print")
	shell, err := os.ReadFile("../../docs/reference/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range shown(commandTree()) {
		if c.GroupID == browseGroup || c.Name() == browseGroup {
			if !regexp.MustCompile("(^|[` ])" + c.Name() + "\\b").Match(shell) {
				t.Errorf("docs/reference/shell.md does not name the verb %s", c.Name())
			}
			continue
		}
		if c.Name() != "completion" && !strings.Contains(table, "| `"+c.Name()) {
			t.Errorf("docs/reference/cli.md does not say what %s prints", c.Name())
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range shown(commandTree()) {
		browses := c.GroupID == browseGroup || c.Name() == browseGroup
		if !browses && !strings.Contains(string(readme), "`"+c.Name()) {
			t.Errorf("README.md does not name the verb %s", c.Name())
		}
	}
	configuration, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range projectKeys {
		if !strings.Contains(string(configuration), "`"+key+"`") {
			t.Errorf("docs/reference/configuration.md does not say that a project file may set %s", key)
		}
	}
}

// Every agent pays for what it reads first.
func TestHelpBrowseIsShort(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var out, words bytes.Buffer
	if code := execute(t.Context(), []string{"help", "browse"}, strings.NewReader(""), &out, &words); code != exitDone {
		t.Fatalf("exit %d: %s", code, words.String())
	}
	ids, _, err := codec.Encode(out.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tokens", len(ids))
	if len(ids) > 900 {
		t.Errorf("help browse has %d tokens, at most 900 are wanted:\n%s", len(ids), out.String())
	}
}
