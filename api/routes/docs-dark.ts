/**
 * The style of /docs in dark mode. Swagger UI's colours are in hundreds of rules, so the whole page
 * is inverted at once, and its hues are rotated back. Parts that are dark on the bright page, or
 * coloured below white text, are inverted twice and so look unchanged.
 */
export const DARK_STYLES = `html {
  color-scheme: dark;
  background: #fff;
  filter: invert(0.9) hue-rotate(180deg);
}
body {
  color-scheme: light;
}
.swagger-ui .dialog-ux .backdrop-ux {
  background: rgb(255 255 255 / 80%);
}
.swagger-ui .highlight-code,
.swagger-ui .curl-command .curl,
.swagger-ui .request-url pre,
.swagger-ui .opblock-summary-method,
.swagger-ui .btn.execute,
.swagger-ui .download-contents {
  filter: invert(1) hue-rotate(180deg);
}
.swagger-ui .copy-to-clipboard {
  z-index: 1;
}
`;
