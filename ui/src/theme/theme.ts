import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

/** The one accent. Mantine needs ten shades; 5 is the solid one, 6 its hover. */
const accent: MantineColorsTuple = [
  "#efeefb",
  "#dddcf8",
  "#bcbaf2",
  "#a6a4ff",
  "#7c79ea",
  "#524ed8",
  "#4b47cc",
  "#4340b8",
  "#393698",
  "#2f2d7c",
];

/** The greys of Mantine in the dark theme: text, borders, inputs and panels, the page. */
const dark: MantineColorsTuple = [
  "#ecedf1",
  "#abb0bb",
  "#8c919d",
  "#717682",
  "#363a44",
  "#25272e",
  "#16181c",
  "#111216",
  "#0c0d10",
  "#08090b",
];

/** For what cannot be undone: white text is readable on shade 5. */
const red: MantineColorsTuple = [
  "#fdeced",
  "#fbd5d7",
  "#f5a8ad",
  "#ff8f90",
  "#d83841",
  "#c0212d",
  "#bb1f2b",
  "#a11a25",
  "#87151f",
  "#6d1018",
];

const control = { size: "xs", radius: 6 } as const;

export const theme = createTheme({
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  headings: { fontFamily: "var(--display)", fontWeight: "600" },
  colors: { accent, dark, red },
  primaryColor: "accent",
  primaryShade: 5,
  defaultRadius: 6,
  cursorType: "pointer",
  respectReducedMotion: true,
  fontSizes: { xs: "13px", sm: "13px", md: "14px" },
  components: {
    Button: { defaultProps: { ...control, variant: "default", fw: 500 } },
    ActionIcon: { defaultProps: { size: 28, radius: 6, variant: "subtle", color: "gray" } },
    TextInput: { defaultProps: control },
    PasswordInput: { defaultProps: control },
    NumberInput: { defaultProps: control },
    Textarea: { defaultProps: control },
    Select: { defaultProps: { ...control, allowDeselect: false, checkIconPosition: "right" } },
    MultiSelect: { defaultProps: control },
    TagsInput: { defaultProps: control },
    Autocomplete: { defaultProps: control },
    Checkbox: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "xs", withThumbIndicator: false } },
    SegmentedControl: { defaultProps: { size: "xs", radius: 6 } },
    Menu: { defaultProps: { shadow: "md", radius: 6, position: "bottom-end", transitionProps: { duration: 0 } } },
    Popover: { defaultProps: { shadow: "md", radius: 6, transitionProps: { duration: 0 } } },
    HoverCard: { defaultProps: { shadow: "md", radius: 6, transitionProps: { duration: 0 } } },
    Tooltip: { defaultProps: { openDelay: 300, radius: 6, transitionProps: { duration: 0 } } },
    Tabs: { defaultProps: { keepMounted: false } },
  },
});

/** Makes Mantine use our tokens, which change with the theme by themselves. */
export const cssVariables: CSSVariablesResolver = () => {
  const shared = {
    "--mantine-color-body": "var(--canvas)",
    "--mantine-color-text": "var(--ink)",
    "--mantine-color-dimmed": "var(--ink-3)",
    "--mantine-color-placeholder": "var(--ink-3)",
    "--mantine-color-anchor": "var(--accent)",
    "--mantine-color-default": "var(--surface)",
    "--mantine-color-default-hover": "var(--hover)",
    "--mantine-color-default-color": "var(--ink)",
    "--mantine-color-default-border": "var(--line-2)",
    "--mantine-color-error": "var(--bad)",
    "--mantine-primary-color-filled": "var(--accent-solid)",
    "--mantine-primary-color-filled-hover": "var(--accent-solid-hover)",
    "--mantine-primary-color-contrast": "var(--on-accent)",
    "--mantine-shadow-md": "var(--shadow-2)",
    "--mantine-color-gray-light-color": "var(--ink-2)",
  };
  return { variables: {}, light: shared, dark: shared };
};
