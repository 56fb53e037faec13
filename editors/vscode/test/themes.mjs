// The colours that the trace view uses, as Visual Studio Code's own themes have them.
export const themes = {
  light: {
    "editor-background": "#ffffff", foreground: "#3b3b3b", focusBorder: "#005fb8", "panel-border": "#e5e5e5",
    "button-secondaryBackground": "#e5e5e5", "button-secondaryForeground": "#3b3b3b", "button-secondaryHoverBackground": "#cccccc",
    "dropdown-background": "#ffffff", "dropdown-foreground": "#3b3b3b", "dropdown-border": "#cecece",
    "editorError-foreground": "#e51400", "charts-green": "#388a34", "editorWidget-background": "#f8f8f8",
    "list-activeSelectionBackground": "#e8e8e8", "list-activeSelectionForeground": "#000000", "list-hoverBackground": "#f2f2f2",
    "editor-findMatchHighlightBackground": "#ea5c0055",
  },
  dark: {
    "editor-background": "#1f1f1f", foreground: "#cccccc", focusBorder: "#0078d4", "panel-border": "#2b2b2b",
    "button-secondaryBackground": "#313131", "button-secondaryForeground": "#cccccc", "button-secondaryHoverBackground": "#3c3c3c",
    "dropdown-background": "#313131", "dropdown-foreground": "#cccccc", "dropdown-border": "#3c3c3c",
    "editorError-foreground": "#f14c4c", "charts-green": "#89d185", "editorWidget-background": "#202020",
    "list-activeSelectionBackground": "#04395e", "list-activeSelectionForeground": "#ffffff", "list-hoverBackground": "#2a2d2e",
    "editor-findMatchHighlightBackground": "#ea5c0055",
  },
  contrast: {
    "editor-background": "#000000", foreground: "#ffffff", focusBorder: "#f38518", "panel-border": "#6fc3df",
    contrastBorder: "#6fc3df", contrastActiveBorder: "#f38518",
    "button-secondaryForeground": "#ffffff", "dropdown-background": "#000000", "dropdown-foreground": "#ffffff", "dropdown-border": "#6fc3df",
    "editorError-foreground": "#f48771", "charts-green": "#89d185", "editorWidget-background": "#0c141f",
  },
};

export function variables(theme) {
  const fonts = { "font-family": "sans-serif", "font-size": "13px", "editor-font-family": "monospace", "editor-font-size": "13px" };
  const all = Object.entries({ ...themes[theme], ...fonts });
  return `:root{${all.map(([name, value]) => `--vscode-${name}:${value}`).join(";")}} body{background:var(--vscode-editor-background);margin:0}`;
}
