import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "dist"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "react-hooks": hooks },
    rules: {
      ...hooks.configs.recommended.rules,
      eqeqeq: "error",
      "no-console": "error",
      // A number in a text is meant.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Handlers such as onClick={() => save()} say it shortest.
      "@typescript-eslint/no-confusing-void-expression": "off",
      // A promise that a handler starts has its failures handled inside it.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
    },
  },
  { files: ["eslint.config.js"], ...tseslint.configs.disableTypeChecked },
);
