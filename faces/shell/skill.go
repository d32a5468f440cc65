package shell

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Skill tells an agent how to use the shell.
//
//go:embed skill.md
var Skill string

// stub is what stands in the folder of an agent. The text itself is printed by the program, so that it fits its
// version.
const stub = `---
name: outrider
description: Use a real browser from the command line - open pages, read them, fill forms, click, download, take
  screenshots, run declared site actions. Use it for anything that needs a web page.
---

Run ` + "`outrider skill`" + ` and follow what it says.
`

// skillFolders are where common agents look for skills, below the home of their user or a project.
var skillFolders = []string{
	".claude/skills", ".codex/skills", ".cursor/skills", ".gemini/skills", ".copilot/skills", ".config/opencode/skill",
	".agents/skills",
}

// InstallSkill writes the skill for every agent that has a folder below root, and for one that follows the convention
// of .agents where none has. It returns the files.
func InstallSkill(root string) ([]string, error) {
	var files []string
	for _, folder := range skillFolders {
		if info, err := os.Stat(agentFolder(root, folder)); err != nil || !info.IsDir() {
			continue
		}
		files = append(files, filepath.Join(root, folder, "outrider", "SKILL.md"))
	}
	if len(files) == 0 {
		files = []string{filepath.Join(root, ".agents/skills/outrider/SKILL.md")}
	}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // as other skills
			return nil, err
		}
		if err := os.WriteFile(file, []byte(stub), 0o644); err != nil { //nolint:gosec // as other skills
			return nil, err
		}
	}
	return files, nil
}

// agentFolder is the folder of an agent, whose skills are in one below it.
func agentFolder(root, skills string) string { return filepath.Join(root, filepath.Dir(skills)) }

// UninstallSkill takes away what InstallSkill wrote below root, with the folders that are empty then. A file that
// somebody has changed stays and is an error. It returns the files that are gone.
func UninstallSkill(root string) ([]string, error) {
	var gone []string
	var changed []error
	for _, folder := range skillFolders {
		file := filepath.Join(root, folder, "outrider", "SKILL.md")
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return gone, err
		}
		if string(text) != stub {
			changed = append(changed, errors.New(file+" was changed and stays"))
			continue
		}
		if err := os.Remove(file); err != nil {
			return gone, err
		}
		gone = append(gone, file)
		last := agentFolder(root, folder) // the agent's own, which stays; that of the convention may be ours
		if folder == ".agents/skills" {
			last = root
		}
		for at := filepath.Dir(file); at != last; at = filepath.Dir(at) {
			if os.Remove(at) != nil {
				break // something else is in it
			}
		}
	}
	return gone, errors.Join(changed...)
}
